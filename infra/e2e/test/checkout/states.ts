/** What the payment page can show, as its screenshots are named: each with what it shows. */
export const STATES = {
  choose: 'How to pay: a wallet of this browser, a code, a sound',
  scan: 'The code of Solana Pay',
  transfer: 'What to send from an exchange or any wallet',
  ready: 'A last look before the wallet',
  sponsored: 'The merchant pays the network fee',
  'sponsor-refused': 'The merchant cannot pay the network fee',
  ending: 'The first transaction can still be sent',
  confirm: 'The wallet asks',
  declined: 'The person has declined in the wallet',
  stopped: 'What was built is not what is shown',
  sent: 'The network confirms the payment',
  paid: 'Paid, with the receipt',
  again: 'The network has dropped the transaction',
  wrong: 'Something else arrived',
  twice: 'Paid twice',
  failed: 'The network has refused the transaction',
  expired: 'The time has run out',
  late: 'The time has run out while a payment is under way',
  cancelled: 'The merchant has cancelled',
  unknown: 'A link without its secret',
  offers: 'A payment link: the networks on which it can be paid',
  'offers-begun': 'A payment link of which a payment was begun',
  'link-paid': 'A payment link that was paid',
  'link-expired': 'A payment link whose time has run out',
  arabic: 'From right to left',
} as const;
export type StateName = keyof typeof STATES;

/** Where the screenshots are, from the root of the repository. */
export const STATES_FOLDER = 'docs/guide/let-people-pay';
