import { Random } from '@pf/simulation/kernel';

/** What clients do, beside creating intents. */
const COMMANDS = [
  'idempotency keys',
  'updates',
  'cancels',
  'detections',
  'payments',
  'competing payers',
  'resubmissions',
  'payments by hand',
  'wrong payments',
  'late payments',
  'refunds',
] as const;

/** Drawn by themselves, so that what a seed decides of the others stays what it was. */
const LATER_COMMANDS = ['assignments', 'larger payments'] as const;

/** What goes wrong. */
const FAULTS = [
  'kills',
  'stops',
  'partitions',
  'lost messages',
  'repeated sends',
  'foreign messages',
  'slow messages',
  'log outages',
  'missing replicas',
  'hanging transactions',
  'store outages',
  'set-back store',
  'redis outages',
  'skewed clocks',
  'clock jumps',
  'reorganizations',
  'late landings',
  'forgotten transactions',
  'lagging upstreams',
  'lying upstreams',
  'silent upstreams',
  'refusing upstreams',
] as const;

/** Drawn by themselves, so that what a seed decides of the others stays what it was. */
const RARE_FAULTS = ['damaged rows', 'truncated log'] as const;

/** What an adversary does beside the clients: drawn by themselves too. */
const MOVES = [
  'payments that go round',
  'shared amounts',
  'accounts given away',
  "strangers' payments",
  'unproven payments',
  'dust',
  'unreadable transactions',
  'inventing upstreams',
] as const;

type CommandKind = (typeof COMMANDS)[number] | (typeof LATER_COMMANDS)[number];
export type FaultKind = (typeof FAULTS)[number] | (typeof RARE_FAULTS)[number];
export type MoveKind = (typeof MOVES)[number];
export type Kind = CommandKind | FaultKind | MoveKind;

/** Whether money moves that the model does not follow. */
export const hasAdversary = (plan: Pick<Plan, 'kinds'>): boolean => movesOf(plan).length > 0;

/** The moves of a plan. */
export const movesOf = ({ kinds }: Pick<Plan, 'kinds'>): readonly MoveKind[] => MOVES.filter((move) => kinds.has(move));

/** Everything that a seed decides before the run begins. */
export interface Plan {
  readonly partitions: number;
  readonly gateways: number;
  readonly writers: number;
  readonly watchers: number;
  readonly webhooks: number;
  readonly clients: number;
  readonly intentsEach: number;
  /** How long things go wrong, in milliseconds. */
  readonly stormMs: number;
  /** The mean time between two faults of one kind while they occur. */
  readonly faultEveryMs: number;
  readonly kinds: ReadonlySet<Kind>;
}

/** Swarm: a run with a few kinds finds more than runs with all of them. */
const COMMAND_SHARE = 0.55;
const LATER_SHARE = 0.4;
const FAULT_SHARE = 0.25;
const RARE_SHARE = 0.12;
/** The share of seeds with an adversary, and of its moves. */
const ADVERSARY_SHARE = 0.3;
const MOVE_SHARE = 0.4;
/** The share of seeds in which nothing goes wrong: what fails there is a fault of the services or of the simulator. */
const CALM_SHARE = 0.05;

/** @param without kinds that are switched off; everything else stays as the seed decides it */
export function drawPlan(seed: number, without: ReadonlySet<string> = new Set()): Plan {
  const random = new Random(seed, 'plan');
  const isCalm = random.chance(CALM_SHARE);
  const commandShare = random.chance(0.1) ? 1 : COMMAND_SHARE;
  const faultShare = random.chance(0.05) ? 0.8 : FAULT_SHARE;
  const drawn: Kind[] = [
    ...COMMANDS.filter(() => random.chance(commandShare)),
    ...FAULTS.filter(() => random.chance(faultShare) && !isCalm),
  ];
  const rare = new Random(seed, 'rare faults');
  drawn.push(...RARE_FAULTS.filter(() => rare.chance(RARE_SHARE) && !isCalm));
  const moves = new Random(seed, 'moves');
  const isAttacked = moves.chance(ADVERSARY_SHARE);
  drawn.push(...MOVES.filter(() => moves.chance(MOVE_SHARE) && isAttacked));
  const later = new Random(seed, 'later commands');
  drawn.push(...LATER_COMMANDS.filter(() => later.chance(LATER_SHARE)));
  return {
    partitions: 1 + random.int(3),
    gateways: 1 + random.int(2),
    writers: 1 + random.int(3),
    watchers: 1 + random.int(2),
    webhooks: 1 + random.int(2),
    clients: 1 + random.int(3),
    intentsEach: 1 + random.int(4),
    stormMs: 10_000 + random.int(30_000),
    faultEveryMs: 2_000 + random.int(10_000),
    kinds: new Set(drawn.filter((kind) => !without.has(kind))),
  };
}
