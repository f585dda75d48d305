export const closing = "Close";
export const rules = {
  auction_poker: {
    title: "Auction Poker",
    sections: [
      ["In short", "Seven-card poker, high and low, in which you buy most of your hand. Everybody antes 1 and gets two concealed cards. Five rows of open cards are auctioned, one after the other; then there is one round of betting, and everybody who is still in declares low, high or both."],
      ["An auction", ["A row has as many cards as there are players.", "Each player commits 1, 2 or 3 chips, face down. When all have chosen, the bids are turned up, and all of them go into the pot, the losing ones too.", "The highest bid picks a card first, then the next, down to the last, who gets what is left.", "Equal bids: the stronger open hand, as it was before this row, picks first; if these are equal too, the first player clockwise from the dealer."], "What you bid buys your place in the order, not a card. Cards that were picked stay open."],
      ["Open hands", "Up to four open cards count by equal ranks only: four of a kind, three, two pair, a pair, high card. With five open cards straights and flushes count too."],
      ["Betting", "The strongest open hand begins. Check or bet 1; facing a bet, call, raise by 1 or fold. There are one bet and three raises at most, and you may raise after you checked. If all but one fold, that player takes the whole pot."],
      ["Declaring", "Low, high or both, in secret, turned up together. High is your best five of seven cards. Low is your best five from ace to five: the ace is 1, straights and flushes do not count, pairs are bad. The two hands may be different."],
      ["The pot", ["The best high among those who declared high gets one half, the best low among those who declared low the other. An odd chip goes to high.", "Both must beat everybody concerned, outright, in each direction. Then it takes everything; a tie is a loss, and a both that fails gets nothing.", "If only one direction was declared, its best hand takes it all.", "If everybody declared both and all fail, the pot is carried into the next deal.", "Equal hands share; chips left over go one each, clockwise from the dealer."]],
      ["The reserve", "To be dealt in you need 20 chips, the most that a deal can cost. Nobody is ever all-in."],
    ],
  },
  auction_flop: {
    title: "Auction Flop Poker",
    sections: [
      ["In short", "Everybody antes 3 and gets five cards. You throw away what you do not like, for a fee, and get nothing for it; then you buy cards in open auctions until everybody holds five again. There is no betting and no folding. The three best hands share the pot."],
      ["Discarding", "In turn, clockwise from the dealer, you discard as many cards as you like, face down, for 1, 3, 6, 10 or 15 chips for one to five cards. Everybody learns how many, nobody which."],
      ["A flop", "Three cards of the stock are turned up; one player will get them. The first voice begins: for the first flop the first player clockwise from the dealer who has room, for each later flop the next one to the left.", ["Clockwise, players with room in their hands pass or bid exactly one more than the highest bid.", "Who has passed may bid when the turn comes round again.", "The flop is sold when all the others pass on a bid. The buyer pays, keeps one to three of the cards, at most five in hand, and discards the others. Nobody learns which were kept."]],
      ["Nobody bids", "Then the first voice takes the flop for nothing, or pays 1 chip into the pot to refuse it. The next player takes it or pays 2, the next 3, and so on, until somebody takes it."],
      ["Alone", "When one player alone still has room, that player takes each flop for nothing, keeps at least one card of each, and cannot refuse."],
      ["The pot", "When all hold five cards, hands are shown. Half of the pot goes to the best hand, a third to the second, a sixth to the third (3 : 2 : 1); with two players 3 : 2. Odd chips go one each from the best down. Equal hands put their shares together and divide them; chips left over go clockwise from the dealer."],
      ["The stock", "If fewer than three cards are left, the discards are shuffled and placed under them."],
      ["The match", "Everybody starts with 100 chips. The match ends after its deals, or when somebody cannot pay the ante."],
    ],
  },
};
