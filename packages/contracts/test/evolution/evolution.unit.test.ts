import { describe, expect, it } from '@jest/globals';
import {
  type Deposit,
  DEPOSIT_COMMAND_TYPES,
  DEPOSIT_EVENT_TYPES,
  type DepositId,
  depositView,
  evolve,
  evolveDeposit,
  hold,
  type IntentEvent,
  type IntentId,
  type PaymentIntent,
  view,
} from '@pf/domain';
import {
  COMMAND_TYPES,
  decodeDeposit,
  decodeIntent,
  DEPOSIT_OBSERVATION_TYPES,
  depositEventOf,
  encodeDeposit,
  encodeDepositEvent,
  encodeEvent,
  encodeInput,
  encodeIntent,
  encodeOutcome,
  eventOf,
  type Format,
  headOf,
  intentEvent,
  isDepositEvent,
  isForeign,
  isForeignDeposit,
  NewerVersionError,
  OBSERVATION_TYPES,
  parseCommand,
  parseEvent,
  parseObservation,
  parseOutcome,
  readEvent,
  readRecord,
  upcast,
  webhookBody,
} from '../../src/index.ts';
import { linesOf, RECORDED } from './recorded.ts';

type Json = Record<string, unknown>;
const folded = (events: readonly IntentEvent[]): ReadonlyMap<IntentId, PaymentIntent> => {
  const intents = new Map<IntentId, PaymentIntent>();
  for (const event of events) intents.set(event.intentId, evolve(intents.get(event.intentId), event));
  return intents;
};

describe.each(RECORDED)('what commit %s wrote', (recording) => {
  it('is read event by event, shows the same bytes, and folds into the states that it stored', () => {
    const events = linesOf(recording, 'events').map((line) => {
      const event = parseEvent(line);
      expect(JSON.parse(encodeEvent(event))).toEqual(JSON.parse(line));
      expect(JSON.stringify(event.intent)).toBe(JSON.stringify((JSON.parse(line) as Json)['intent']));
      return event;
    });
    const intents = folded(events.map(eventOf));
    const states = linesOf(recording, 'states').map((line) => {
      const state = decodeIntent(line);
      // Rows of the first commits lack what it did not keep; a rebuild adds it.
      const kept = JSON.parse(line) as Json;
      const lacked = Object.fromEntries(Object.entries(state).filter(([field]) => !(field in kept)));
      expect({ ...intents.get(state.id), ...lacked }).toEqual(state);
      for (const field of Object.keys(lacked)) expect(['extraPayments', 'otherRefunds']).toContain(field);
      return state;
    });
    expect(states).toHaveLength(intents.size);
    for (const { intentId, version, intent } of events)
      if (intents.get(intentId)?.version === version) expect(view(decodeStateOf(states, intentId))).toEqual(intent);
  });

  it('is read as commands and observations of every type, and as outcomes', () => {
    const commands = linesOf(recording, 'commands').map((line) => parseCommand(line));
    const observations = linesOf(recording, 'observations').map(parseObservation);
    const types = COMMAND_TYPES.filter((type) => type !== 'report_transfer');
    expect([...new Set(commands.map(({ type }) => type))].sort()).toEqual(types.sort());
    const observed = OBSERVATION_TYPES.filter((type) => type !== 'assigned' && type !== 'disproved');
    expect([...new Set(observations.map(({ type }) => type))].sort()).toEqual(observed.sort());
    for (const line of linesOf(recording, 'outcomes')) expect(encodeOutcome(parseOutcome(line))).toBe(line);
  });
});

const decodeStateOf = (states: readonly PaymentIntent[], id: IntentId): PaymentIntent => {
  const state = states.find((one) => one.id === id);
  if (state === undefined) throw new Error(`${id} is not recorded`);
  return state;
};

describe('what this code writes', () => {
  it('equals its recording: a change of a format needs another one', () => {
    for (const line of linesOf('payments', 'states')) expect(encodeIntent(decodeIntent(line))).toBe(line);
    for (const line of [...linesOf('payments', 'commands'), ...linesOf('reports', 'commands')])
      expect(JSON.parse(encodeInput(parseCommand(line)))).toEqual(JSON.parse(line));
    for (const line of linesOf('payments', 'observations'))
      expect(JSON.parse(encodeInput(parseObservation(line)))).toEqual(JSON.parse(line));
  });

  it('shows the payments that an intent did not ask for, and only in their own events', () => {
    const bodies = linesOf('payments', 'events').flatMap((line) => webhookBody(parseEvent(line)) ?? []);
    const shown = bodies.map((body) => intentEvent.parse(JSON.parse(body)));
    expect([...new Set(shown.flatMap(({ type, data }) => (data.payment ? [type] : [])))].sort()).toEqual([
      'intent.extra_payment',
      'intent.late_payment',
      'intent.mismatched_payment',
    ]);
    expect(shown.find(({ type }) => type === 'intent.mismatched_payment')?.data.payment).toMatchObject({
      sender: expect.stringMatching(/^0x/) as unknown,
      differs: ['amount'],
      late: null,
    });
    expect(shown.find(({ type }) => type === 'intent.late_payment')?.data.payment).toMatchObject({
      differs: [],
      late: 'failed',
    });
  });

  it('had the bytes of commit b026edb in the log and in the projection before it reported such payments', () => {
    for (const kind of ['events', 'states'] as const)
      expect(linesOf('versions', kind)).toEqual(linesOf('b026edb', kind));
  });
});

describe('what was recorded of deposits', () => {
  const recordedIn = (kind: 'events' | 'states') =>
    (['deposits', 'deposit-acts', 'assignments'] as const).flatMap((recording) => linesOf(recording, kind));
  const acts = (kind: 'commands' | 'outcomes') => [...linesOf('deposit-acts', kind), ...linesOf('assignments', kind)];
  const lines = recordedIn('events');
  const eventIn = (line: string) => {
    const event = readRecord(line);
    if (!isDepositEvent(event) || isForeignDeposit(event)) throw new Error(`it is not read as of a deposit: ${line}`);
    return event;
  };

  it('has every event type, is read event by event, and written as it was', () => {
    const events = lines.map(eventIn);
    for (const [place, event] of events.entries())
      expect(JSON.parse(encodeDepositEvent(event))).toEqual(JSON.parse(lines[place] ?? ''));
    expect([...new Set(events.map(({ type }) => type))].sort()).toEqual([...DEPOSIT_EVENT_TYPES].sort());
  });

  it('folds into the states that were stored, byte for byte, and shows them', () => {
    const deposits = new Map<DepositId, Deposit>();
    for (const event of lines.map(eventIn)) {
      const after = evolveDeposit(deposits.get(event.depositId), depositEventOf(event));
      deposits.set(after.id, after);
      expect(depositView(after)).toEqual(event.deposit);
    }
    expect([...deposits.values()].map(encodeDeposit)).toEqual(recordedIn('states'));
    for (const line of recordedIn('states')) expect(encodeDeposit(decodeDeposit(line))).toBe(line);
  });

  it('has every command and outcome, each written as it was', () => {
    const commands = acts('commands');
    for (const line of commands) expect(JSON.parse(encodeInput(parseCommand(line)))).toEqual(JSON.parse(line));
    expect(commands.map((line) => parseCommand(line).type).sort()).toEqual([...DEPOSIT_COMMAND_TYPES].sort());
    for (const line of acts('outcomes')) expect(encodeOutcome(parseOutcome(line))).toBe(line);
  });

  it('has what an intent is told, written as it was', () => {
    const told = linesOf('assignments', 'observations');
    for (const line of told) expect(JSON.parse(encodeInput(parseObservation(line)))).toEqual(JSON.parse(line));
    expect(told.map((line) => parseObservation(line).type)).toEqual(['assigned', 'assigned']);
  });

  it('has every observation type, each written as it was', () => {
    const observations = linesOf('deposits', 'observations');
    for (const line of observations) expect(JSON.parse(encodeInput(parseObservation(line)))).toEqual(JSON.parse(line));
    expect([...new Set(observations.map((line) => parseObservation(line).type))].sort()).toEqual(
      [...DEPOSIT_OBSERVATION_TYPES].sort(),
    );
  });
});

it('has what a watcher tells of a report that was wrong, written as it was', () => {
  const told = linesOf('disproved', 'observations');
  for (const line of told) expect(JSON.parse(encodeInput(parseObservation(line)))).toEqual(JSON.parse(line));
  expect(told.map((line) => parseObservation(line).type)).toEqual(['disproved']);
});

describe('what was recorded of an intent that more than its amount may pay', () => {
  const events = linesOf('at-least', 'events');
  const [command = ''] = linesOf('at-least', 'commands');
  const [state = ''] = linesOf('at-least', 'states');
  const versionIn = (line: string): unknown => (JSON.parse(line) as Json)['schemaVersion'];

  it('is read, folds into the state that was stored, byte for byte, and is written as it was', () => {
    const read = events.map(parseEvent);
    for (const [place, event] of read.entries())
      expect(JSON.parse(encodeEvent(event))).toEqual(JSON.parse(events[place] ?? ''));
    const [intent] = folded(read.map(eventOf)).values();
    expect(intent && encodeIntent(intent)).toBe(state);
    expect(encodeIntent(decodeIntent(state))).toBe(state);
    expect(decodeIntent(state)).toEqual(intent);
    expect(JSON.parse(encodeInput(parseCommand(command)))).toEqual(JSON.parse(command));
    expect(webhookBody(parseEvent(events.at(-1) ?? ''))).toContain('"overpayment":{"txSignature":"0x');
  });

  it('has a newer version wherever older code would take it for one of exactly its amount', () => {
    expect(events.map(versionIn)).toEqual([3, ...events.slice(1).map(() => 1)]);
    expect([versionIn(command), versionIn(state)]).toEqual([3, 2]);
  });

  it('has a newer version where it is sealed, too', () => {
    const seal = { seal: (_: string, text: string) => text, open: (_: string, text: string) => text };
    const create = parseCommand(command);
    if (create.type !== 'create') throw new Error('it creates an intent');
    const personal = { ...create, data: { ...create.data, metadata: { order: '7' } } };
    expect(versionIn(encodeInput(personal, seal))).toBe(3);
    expect(parseCommand(encodeInput(personal, seal), seal)).toEqual(personal);
  });
});

/** The document as newer code may write it: with a field more in every object. */
const withMore = (value: unknown, key = ''): unknown => {
  if (Array.isArray(value)) return value.map((item) => withMore(item));
  if (typeof value !== 'object' || value === null) return value;
  const entries = Object.entries(value).map(([name, item]) => [name, withMore(item, name)]);
  // The keys of metadata are the client's.
  return Object.fromEntries(key === 'metadata' ? entries : [...entries, ['addedLater', { by: 'newer code' }]]);
};
const newer = (line: string): string => JSON.stringify(withMore(JSON.parse(line)));
const countOf = (text: string): number => text.split('"addedLater"').length - 1;

describe('what newer code writes with fields more in every object', () => {
  it('survives when a stored intent is read, changed by an event and stored again', () => {
    for (const line of linesOf('versions', 'states')) {
      const state = decodeIntent(newer(line));
      expect(countOf(encodeIntent(state))).toBe(countOf(newer(line)));
      const { id: intentId, version, status } = state;
      const at = state.updatedAt + 1;
      const changes: readonly IntentEvent[] = [
        { type: 'intent.updated', intentId, version: version + 1, at, data: { metadata: { changed: 'yes' } } },
        ...state.submissions.map(({ hash, sender, nonce, lifetime, terms }): IntentEvent => ({
          type: 'submission_prepared',
          intentId,
          version: version + 1,
          at,
          data: { transaction: { hash, sender, nonce, lifetime, terms }, attempts: 9 },
        })),
        ...(status === 'confirmed' && state.settlement !== null
          ? [
              {
                type: 'intent.finalized',
                intentId,
                version: version + 1,
                at,
                data: { hash: state.settlement.hash, landing: state.settlement, simulated: false },
              } satisfies IntentEvent,
            ]
          : []),
      ];
      for (const change of changes)
        expect([change.type, countOf(encodeIntent(evolve(state, change)))]).toEqual([
          change.type,
          countOf(newer(line)),
        ]);
    }
  });

  it('is read as an event, with the fields that are known, and shows the intent as it was written', () => {
    for (const line of linesOf('versions', 'events')) {
      const event = readEvent(newer(line));
      if (isForeign(event)) throw new Error(`${event.type} is known`);
      expect(JSON.stringify(event.intent)).toBe(JSON.stringify((JSON.parse(newer(line)) as Json)['intent']));
      expect(event.type).toBe((JSON.parse(line) as Json)['type']);
    }
    const events = linesOf('versions', 'events').map((line) => eventOf(parseEvent(newer(line))));
    for (const line of linesOf('versions', 'states')) {
      const state = decodeIntent(line);
      expect(folded(events).get(state.id)).toMatchObject({ version: state.version, status: state.status });
    }
  });

  it('is read as commands, observations and outcomes', () => {
    for (const line of linesOf('versions', 'commands'))
      expect(parseCommand(newer(line))).toMatchObject({ type: parseCommand(line).type });
    for (const line of linesOf('versions', 'observations'))
      expect(parseObservation(newer(line))).toMatchObject({ type: parseObservation(line).type });
    for (const line of linesOf('versions', 'outcomes'))
      expect(parseOutcome(newer(line))).toMatchObject({ kind: parseOutcome(line).kind });
  });
});

describe('what newer code writes in a newer version', () => {
  const [line = ''] = linesOf('versions', 'events');
  const changed = (change: Json): string => JSON.stringify({ ...(JSON.parse(line) as Json), ...change });

  it.each([
    ['a new type', { type: 'payout_scheduled', data: { to: 'a bank' } }],
    ['a new schema version', { schemaVersion: 4, data: 'of another form' }],
  ])('is a foreign event where it has %s: its place and the public intent are known', (_name, change) => {
    const event = readEvent(changed(change));
    expect(isForeign(event)).toBe(true);
    expect(event).toMatchObject({ intentId: parseEvent(line).intentId, version: 1, intent: parseEvent(line).intent });
    expect(() => parseEvent(changed(change))).toThrow(NewerVersionError);
  });

  it('has a webhook if its type is public and known', () => {
    expect(webhookBody(readEvent(changed({ schemaVersion: 4 })))).toBe(webhookBody(parseEvent(line)));
    expect(webhookBody(readEvent(changed({ type: 'intent.paused' })))).toBeNull();
  });

  it('is refused as a state, a command, an observation and an outcome, by its version', () => {
    const refused = [
      [decodeIntent, linesOf('versions', 'states')],
      [parseCommand, linesOf('versions', 'commands')],
      [parseObservation, linesOf('versions', 'observations')],
      [parseOutcome, linesOf('versions', 'outcomes')],
    ] as const;
    for (const [parse, [text = '']] of refused)
      expect(() => parse(JSON.stringify({ ...(JSON.parse(text) as Json), schemaVersion: 4 }))).toThrow(
        NewerVersionError,
      );
  });

  it('is still damage where it lacks what every event has', () => {
    for (const text of ['{}', changed({ intentId: undefined }), changed({ version: 0 }), changed({ data: {} })])
      expect(() => readEvent(text)).toThrow();
  });

  it('holds the intent: its version and what the public sees go on', () => {
    const events = linesOf('versions', 'events').map(parseEvent);
    const { intentId } = events[0] ?? parseEvent('');
    const own = events.filter((event) => event.intentId === intentId);
    let state: PaymentIntent | undefined;
    for (const event of own) {
      state = event.version < 3 ? evolve(state, eventOf(event)) : hold(state, headOf(event));
      expect(view(state)).toEqual(event.intent);
    }
    expect(state).toMatchObject({ version: own.length, heldFrom: 3 });
    const first = own[0] ?? parseEvent('');
    expect(view(hold(undefined, headOf(first)))).toEqual(first.intent);
    expect(() => hold(undefined, headOf(own[1] ?? first))).toThrow('version 2');
    if (state !== undefined) expect(decodeIntent(encodeIntent(state))).toEqual(state);
  });
});

describe('upcast', () => {
  const format: Format = {
    name: 'a test',
    upcasters: [
      (document) => ({ ...document, second: true }),
      (document) => ({ ...document, third: document['second'] }),
    ],
  };

  it('brings every version to the current one, step by step', () => {
    expect(upcast(format, { a: 1 })).toEqual({ a: 1, second: true, third: true });
    expect(upcast(format, { a: 1, schemaVersion: 2, second: 'kept' })).toMatchObject({ second: 'kept', third: 'kept' });
    expect(upcast(format, { a: 1, schemaVersion: 3 })).toEqual({ a: 1, schemaVersion: 3 });
    expect(() => upcast(format, { schemaVersion: 4 })).toThrow(NewerVersionError);
  });
});
