export const closing = "Fechar";
export const rules = {
  auction_poker: {
    title: "Póquer de leilão",
    sections: [
      ["Em poucas palavras", "Póquer de sete cartas, alta e baixa, em que se compra quase toda a mão. Cada jogador paga 1 ficha e recebe duas cartas fechadas. Leiloam-se cinco filas de cartas abertas, uma após outra; depois há uma só ronda de apostas, e quem continua declara baixa, alta ou ambas."],
      ["Um leilão", ["A fila tem tantas cartas quantos os jogadores.", "Cada um oferece 1, 2 ou 3 fichas, viradas para baixo. Quando todos escolheram, mostram-se as ofertas e todas vão para o pote, também as que perdem.", "A oferta mais alta escolhe primeiro uma carta, depois a seguinte; a última recebe a que sobra.", "Com ofertas iguais escolhe antes a melhor mão aberta, tal como estava antes desta fila; se também forem iguais, o primeiro no sentido dos ponteiros do relógio depois de quem dá."], "A oferta compra a vez, não uma carta. As cartas escolhidas ficam à vista."],
      ["Mãos abertas", "Até quatro cartas abertas só contam os valores repetidos: quatro iguais, trio, dois pares, par, carta alta. Com cinco contam também sequências e cores."],
      ["Apostas", "Começa a melhor mão aberta. Passar ou apostar 1; perante uma aposta, igualar, aumentar 1 ou desistir. Há no máximo uma aposta e três aumentos, e pode-se aumentar depois de ter passado. Se todos desistirem menos um, esse leva o pote inteiro."],
      ["Declarar", "Baixa, alta ou ambas, em segredo e ao mesmo tempo. Alta é o melhor com cinco das sete cartas. Baixa é o melhor do ás ao cinco: o ás vale 1, sequências e cores não existem e os pares prejudicam. As duas mãos podem ser diferentes."],
      ["O pote", ["A melhor alta entre quem declarou alta recebe uma metade; a melhor baixa entre quem declarou baixa, a outra. A ficha ímpar é da alta.", "Ambas exige vencer sem empate todos os adversários em cada sentido. Então leva tudo; um empate é uma derrota, e quem falha não recebe nada.", "Se só um sentido foi declarado, a sua melhor mão leva tudo.", "Se todos declararam ambas e todos falham, o pote passa para a mão seguinte.", "Mãos iguais repartem a sua parte; as fichas que sobram vão uma a uma, no sentido dos ponteiros do relógio depois de quem dá."]],
      ["A reserva", "Para jogar uma mão são precisas 20 fichas, o máximo que pode custar. Ninguém fica sem fichas a meio da mão."],
    ],
  },
  auction_flop: {
    title: "Póquer de flops leiloados",
    sections: [
      ["Em poucas palavras", "Cada jogador paga 3 fichas e recebe cinco cartas. Deita-se fora, pagando, o que não agrada, sem receber nada; depois compram-se cartas em leilões abertos até todos terem de novo cinco. Não há apostas nem desistências. As três melhores mãos repartem o pote."],
      ["Descartes", "À vez, no sentido dos ponteiros do relógio depois de quem dá, cada um descarta, viradas para baixo, as cartas que quiser: 1, 3, 6, 10 ou 15 fichas por uma a cinco cartas. Todos sabem quantas; ninguém sabe quais."],
      ["Um flop", "Viram-se três cartas do baralho; serão de um só jogador. Começa a primeira voz: no primeiro flop, o primeiro depois de quem dá que tenha lugar na mão; nos seguintes, o próximo à esquerda.", ["No sentido dos ponteiros do relógio, quem tem lugar passa ou oferece exatamente mais uma ficha do que a maior oferta.", "Quem passou pode oferecer quando a vez voltar.", "O flop é vendido quando todos os outros passam perante uma oferta. O comprador paga, guarda de uma a três cartas, no máximo cinco na mão, e descarta o resto. Ninguém sabe quais guardou."]],
      ["Ninguém oferece", "Então a primeira voz fica com o flop de graça ou paga 1 ficha ao pote para o recusar. O seguinte fica com ele ou paga 2, o outro 3, e assim por diante até alguém o aceitar."],
      ["Sozinho", "Quando só a um jogador faltam cartas, fica com cada flop de graça, guarda pelo menos uma carta de cada e não pode recusar."],
      ["O pote", "Quando todos têm cinco cartas mostram-se as mãos. A melhor recebe metade do pote, a segunda um terço e a terceira um sexto (3 : 2 : 1); com dois jogadores, 3 : 2. As fichas soltas vão uma a uma a partir da melhor. Mãos iguais juntam as suas partes e dividem-nas; o que sobra vai no sentido dos ponteiros do relógio depois de quem dá."],
      ["O baralho", "Se restam menos de três cartas, baralham-se os descartes e põem-se por baixo."],
      ["A partida", "Todos começam com 100 fichas. A partida acaba depois das mãos combinadas, ou quando alguém não pode pagar a entrada."],
    ],
  },
};
