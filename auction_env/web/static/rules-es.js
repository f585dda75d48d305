export const closing = "Cerrar";
export const rules = {
  auction_poker: {
    title: "Póquer de subasta",
    sections: [
      ["En pocas palabras", "Póquer de siete cartas, alta y baja, en el que se compra casi toda la mano. Cada jugador pone 1 ficha y recibe dos cartas cerradas. Se subastan cinco filas de cartas abiertas, una tras otra; después hay una sola ronda de apuestas, y quienes siguen declaran baja, alta o ambas."],
      ["Una subasta", ["La fila tiene tantas cartas como jugadores.", "Cada uno ofrece 1, 2 o 3 fichas boca abajo. Cuando todos han elegido se descubren las ofertas y todas van al bote, también las que pierden.", "La oferta más alta elige carta primero, luego la siguiente, y la última recibe la que queda.", "Con ofertas iguales elige antes la mejor mano abierta, tal como estaba antes de esta fila; si también son iguales, el primero en sentido horario desde quien reparte."], "La oferta compra el turno, no una carta. Las cartas elegidas quedan a la vista."],
      ["Manos abiertas", "Hasta cuatro cartas abiertas solo cuentan los valores repetidos: póquer, trío, dobles parejas, pareja, carta alta. Con cinco cuentan también escaleras y colores."],
      ["Apuestas", "Empieza la mejor mano abierta. Pasar o apostar 1; ante una apuesta, igualar, subir 1 o retirarse. Hay como máximo una apuesta y tres subidas, y se puede subir después de haber pasado. Si todos menos uno se retiran, ese se lleva el bote entero."],
      ["Declarar", "Baja, alta o ambas, en secreto y a la vez. Alta es lo mejor con cinco de las siete cartas. Baja es lo mejor de as a cinco: el as vale 1, escaleras y colores no existen y las parejas perjudican. Las dos manos pueden ser distintas."],
      ["El bote", ["La mejor alta entre quienes declararon alta cobra una mitad; la mejor baja entre quienes declararon baja, la otra. La ficha impar es para la alta.", "Ambas exige ganar sin empate a todos los rivales en cada sentido. Entonces se lo lleva todo; un empate es una derrota, y si falla no cobra nada.", "Si solo se declaró un sentido, su mejor mano se lleva todo.", "Si todos declararon ambas y todos fallan, el bote pasa a la mano siguiente.", "Las manos iguales se reparten su parte; las fichas que sobran van de una en una en sentido horario desde quien reparte."]],
      ["La reserva", "Para jugar una mano hacen falta 20 fichas, lo máximo que puede costar. Nadie queda nunca sin fichas a mitad de la mano."],
    ],
  },
  auction_flop: {
    title: "Póquer de flops subastados",
    sections: [
      ["En pocas palabras", "Cada jugador pone 3 fichas y recibe cinco cartas. Se descarta lo que no gusta, pagando, sin recibir nada a cambio; después se compran cartas en subastas abiertas hasta que todos vuelven a tener cinco. No hay apuestas ni retiradas. Las tres mejores manos se reparten el bote."],
      ["Descartes", "Por turno, en sentido horario desde quien reparte, cada uno descarta boca abajo las cartas que quiera: 1, 3, 6, 10 o 15 fichas por una a cinco cartas. Todos saben cuántas; nadie, cuáles."],
      ["Un flop", "Se descubren tres cartas del mazo; serán para un solo jugador. Empieza la primera voz: en el primer flop, el primero desde quien reparte que tenga sitio en la mano; en los siguientes, el próximo hacia la izquierda.", ["En sentido horario, quienes tienen sitio pasan u ofrecen exactamente una ficha más que la oferta más alta.", "Quien ha pasado puede ofrecer cuando le vuelve a tocar.", "El flop se vende cuando todos los demás pasan ante una oferta. El comprador paga, se queda de una a tres cartas, sin pasar de cinco en la mano, y descarta el resto. Nadie sabe cuáles guardó."]],
      ["Nadie ofrece", "Entonces la primera voz se queda el flop gratis o paga 1 ficha al bote para rechazarlo. El siguiente se lo queda o paga 2, el otro 3, y así hasta que alguien lo toma."],
      ["Uno solo", "Cuando solo a un jugador le faltan cartas, toma cada flop gratis, guarda al menos una carta de cada uno y no puede rechazar."],
      ["El bote", "Cuando todos tienen cinco cartas se enseñan las manos. La mejor cobra la mitad del bote, la segunda un tercio y la tercera un sexto (3 : 2 : 1); entre dos jugadores, 3 : 2. Las fichas sueltas van de una en una desde la mejor. Las manos iguales juntan sus partes y las dividen; lo que sobra va en sentido horario desde quien reparte."],
      ["El mazo", "Si quedan menos de tres cartas, se barajan los descartes y se ponen debajo."],
      ["La partida", "Todos empiezan con 100 fichas. La partida termina tras las manos acordadas, o cuando alguien no puede pagar la entrada."],
    ],
  },
};
