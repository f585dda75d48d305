export const closing = "Fermer";
export const rules = {
  auction_poker: {
    title: "Poker aux enchères",
    sections: [
      ["En bref", "Un poker à sept cartes, haut et bas, où l’on achète presque toute sa main. Chacun verse 1 jeton et reçoit deux cartes cachées. Cinq rangées de cartes visibles sont mises aux enchères l’une après l’autre ; puis vient un seul tour de mises, et ceux qui restent annoncent bas, haut ou les deux."],
      ["Une enchère", ["La rangée compte autant de cartes que de joueurs.", "Chacun engage 1, 2 ou 3 jetons, face cachée. Quand tous ont choisi, on découvre les offres, et toutes vont au pot, les perdantes aussi.", "L’offre la plus haute choisit une carte d’abord, puis la suivante ; la dernière reçoit ce qui reste.", "À offres égales, la meilleure main visible d’avant cette rangée choisit d’abord ; si elles se valent encore, le premier dans le sens horaire après le donneur."], "L’offre achète un rang, pas une carte. Les cartes choisies restent visibles."],
      ["Mains visibles", "Jusqu’à quatre cartes visibles, seuls comptent les rangs égaux : carré, brelan, deux paires, paire, carte haute. Avec cinq, les quintes et les couleurs comptent aussi."],
      ["Les mises", "La meilleure main visible commence. On passe ou on mise 1 ; face à une mise, on suit, on relance de 1 ou on se couche. Une mise et trois relances au plus, et l’on peut relancer après avoir passé. Si tous se couchent sauf un, il prend tout le pot."],
      ["Annoncer", "Bas, haut ou les deux, en secret, découvert ensemble. Haut : les cinq meilleures des sept cartes. Bas : les cinq meilleures de l’as au cinq ; l’as vaut 1, quintes et couleurs n’existent pas, les paires sont mauvaises. Les deux mains peuvent différer."],
      ["Le pot", ["La meilleure main haute parmi ceux qui ont annoncé haut prend une moitié, la meilleure basse parmi ceux qui ont annoncé bas prend l’autre. Le jeton impair va au haut.", "Annoncer les deux oblige à battre nettement, dans chaque sens, tous ceux qui y concourent. On prend alors tout ; une égalité est une défaite, et qui échoue ne reçoit rien.", "Si un seul sens a été annoncé, sa meilleure main prend tout.", "Si tous ont annoncé les deux et échouent, le pot passe à la donne suivante.", "Les mains égales partagent ; les jetons qui restent vont un à un, dans le sens horaire après le donneur."]],
      ["La réserve", "Pour recevoir des cartes il faut 20 jetons, le plus qu’une donne puisse coûter. Personne n’est jamais à tapis."],
    ],
  },
  auction_flop: {
    title: "Poker aux flops vendus",
    sections: [
      ["En bref", "Chacun verse 3 jetons et reçoit cinq cartes. On écarte, contre paiement, ce que l’on n’aime pas, sans rien recevoir ; puis on achète des cartes dans des enchères ouvertes, jusqu’à ce que tous en aient de nouveau cinq. Ni mises, ni abandon. Les trois meilleures mains se partagent le pot."],
      ["Écarter", "À tour de rôle, dans le sens horaire après le donneur, on écarte autant de cartes que l’on veut, face cachée, pour 1, 3, 6, 10 ou 15 jetons pour une à cinq cartes. Tous savent combien, personne lesquelles."],
      ["Un flop", "On découvre trois cartes du talon ; un seul joueur les aura. La première voix commence : au premier flop, le premier après le donneur qui a de la place en main ; ensuite, le suivant vers la gauche.", ["Dans le sens horaire, ceux qui ont de la place passent ou offrent exactement un jeton de plus que la plus haute offre.", "Qui a passé peut offrir quand son tour revient.", "Le flop est vendu quand tous les autres passent après une offre. L’acheteur paie, garde une à trois cartes, cinq au plus en main, et écarte le reste. Personne ne sait lesquelles il a gardées."]],
      ["Sans offre", "La première voix prend alors le flop pour rien, ou paie 1 jeton au pot pour le refuser. Le suivant le prend ou paie 2, puis 3, et ainsi de suite jusqu’à ce que quelqu’un le prenne."],
      ["Seul", "Quand un seul joueur n’a pas cinq cartes, il prend chaque flop pour rien, garde au moins une carte de chacun et ne peut refuser."],
      ["Le pot", "Quand tous ont cinq cartes, on montre les mains. La meilleure prend la moitié du pot, la deuxième un tiers, la troisième un sixième (3 : 2 : 1) ; à deux joueurs, 3 : 2. Les jetons impairs vont un à un en partant de la meilleure. Les mains égales réunissent leurs parts et les divisent ; le reste va dans le sens horaire après le donneur."],
      ["Le talon", "S’il reste moins de trois cartes, on mêle les écarts et on les place dessous."],
      ["La partie", "Chacun commence avec 100 jetons. La partie finit après les donnes prévues, ou quand quelqu’un ne peut payer l’entrée."],
    ],
  },
};
