import { setTimeout as sleep } from 'node:timers/promises';
import type { Armed, AffectedPayment } from '@pf/chain-controls';
import type { PaymentIntent } from '@pf/client';
import { Argument, Command, Option } from 'commander';
import { controlling, NETWORK, networkArgument, networkNamed, networks } from '../chain/network.ts';
import {
  addWaitingOptions,
  awaitPayment,
  seconds,
  tell,
  waiting,
  type Waiting,
  type WaitingOptions,
} from '../chain/waiting.ts';
import { clock, createLines } from '../lines.ts';
import { createOutput, table } from '../output.ts';
import { globalOptions, type CommandContext } from '../session.ts';
import { findStack } from '../stack.ts';

const EXAMPLE_ID = 'pi_5mUj8xNgYq3vWJ2hTfKd7';
/** The service hears of a submission a moment after the chain. */
const KNOWN_WITHIN_MS = 5_000;
const CONFIRMED_WITHIN_MS = 30_000;

/** `pf chain`: what goes wrong on chains, made to go wrong on the local ones. */
export function chainCommand(context: CommandContext): Command {
  const chain = new Command('chain')
    .description(
      'make local chains drop, fail, delay, revert or finalize payments, to test how your program handles it',
    )
    .addHelpText(
      'after',
      '\nEffects on each chain: docs/guide/chain-controls.md\n\nExamples:\n  pf chain drop base\n' +
        `  pf chain fail solana --intent ${EXAMPLE_ID}\n  pf chain delay base --seconds 20\n  pf chain status`,
    );
  const strike = (
    verb: 'drop' | 'fail',
    description: string,
    what: string,
    follows: (struck: AffectedPayment) => readonly string[],
    example: string,
  ): void => {
    addWaitingOptions(chain.command(verb).description(description).addArgument(networkArgument()))
      .addHelpText(
        'after',
        '\nThe command waits for the payment, injects the fault, reports it and ends. Other payments are not ' +
          `affected.\n\nExamples:\n${example}`,
      )
      .action((named: string, options: WaitingOptions, command: Command) =>
        waiting(command, context, named, options, async (session) => {
          const armed: Armed<AffectedPayment> = await session.network.controls[verb](session.aim);
          const struck = await awaitPayment(session, options, verb, what, armed);
          if (struck === null) return;
          const { how, provenFrom, reference } = struck;
          const intentId = (await session.intentOf(struck, () => true, KNOWN_WITHIN_MS))?.id ?? null;
          tell(session, verb === 'drop' ? 'dropped' : 'failed', { reference, intentId, how, provenFrom }, struck, [
            `${how}.`,
            ...follows(struck),
            ...followLine(intentId),
          ]);
        }),
      );
  };

  strike(
    'drop',
    'drop the next payment, provably: it has to be built and signed again',
    'vanishes',
    ({ provenFrom }) => [
      'Next: intent.retry_required ' +
        `${provenFrom === null ? 'within seconds' : `from ${clock(provenFrom)} UTC on, when its time is over`}: ` +
        'state created, retryRequired true. Build and sign again.',
    ],
    `  pf chain drop base\n  pf chain drop solana --intent ${EXAMPLE_ID}\n` +
      '  pf chain drop tempo --payer 0x70997970C51812dc3A010C7d01b50e0d17dc79C8 --json',
  );
  strike(
    'fail',
    'let the next payment fail in a block, although it was valid when it was signed',
    'fails on chain',
    () => ['Next: intent.failed within seconds. No money moved; a new payment needs a new intent.'],
    `  pf chain fail base\n  pf chain fail solana --intent ${EXAMPLE_ID}`,
  );

  addWaitingOptions(
    chain
      .command('reorg')
      .description('remove the block of the next payment by a reorg, after it is confirmed and before it is finalized')
      .addArgument(networkArgument()),
  )
    .addOption(
      new Option(
        '--depth <blocks>',
        'remove this many of the newest blocks or slots now, whatever they contain',
      ).argParser(seconds),
    )
    .option('--lose', 'the removed transactions never land again; without it they land in the next block')
    .addHelpText(
      'after',
      '\nTempo has no reorgs: a block is final.\n\nExamples:\n  pf chain reorg base\n' +
        `  pf chain reorg solana --lose --intent ${EXAMPLE_ID}\n  pf chain reorg base --depth 3`,
    )
    .action(
      (
        named: string,
        { depth, lose = false, ...options }: WaitingOptions & { readonly depth?: number; readonly lose?: boolean },
        command: Command,
      ) =>
        waiting(command, context, named, options, (session) =>
          depth === undefined ? reorgPayment(session, options, lose) : reorgBlocks(session, depth, lose),
        ),
    );

  chain
    .command('delay')
    .description('keep transactions out of blocks for a while')
    .addArgument(networkArgument())
    .addOption(new Option('--seconds <number>', 'how long').argParser(seconds).default(20))
    .addHelpText(
      'after',
      '\nThe chain stops; what is submitted in the meantime lands afterwards. Ctrl-C ends the delay early.\n\n' +
        'Example:\n  pf chain delay base --seconds 20',
    )
    .action(async (named: string, { seconds: long }: { readonly seconds: number }, command: Command) => {
      const { json, mode } = globalOptions(command);
      const { name, controls } = await networkNamed(findStack(context.environment), named, mode);
      const lines = createLines(json, context.write);
      const ending = context.untilEnded?.() ?? new AbortController().signal;
      await controlling(async () => {
        const goOn = await controls.stall();
        try {
          lines.line(
            { event: 'delayed', network: name, seconds: long },
            () =>
              `${clock(new Date())}  ${name} is delayed for ${long} s: no transaction lands. Stop ` + 'with Ctrl-C.',
          );
          await sleep(long * 1000, undefined, { signal: ending }).catch((error: unknown) => {
            // Ended by a person: the chain goes on earlier.
            if (!ending.aborted) throw error;
          });
        } finally {
          await goOn();
        }
        lines.line({ event: 'resumed', network: name }, () => `${clock(new Date())}  ${name} continues.`);
      });
    });

  chain
    .command('finalize')
    .description('finalize all blocks now')
    .addArgument(networkArgument())
    .addHelpText('after', '\nExample:\n  pf chain finalize base')
    .action(async (named: string, _options: unknown, command: Command) => {
      const { json, mode } = globalOptions(command);
      const { name, controls } = await networkNamed(findStack(context.environment), named, mode);
      const final = await controlling(() => controls.finalize());
      createOutput(json, context.write).answer(
        { network: name, final },
        () =>
          `${name} is finalized up to block ${final}: intent.finalized follows for confirmed payments within seconds.`,
      );
    });

  chain
    .command('heal')
    .description('end every injected fault and delay, including those of a killed pf')
    .addArgument(new Argument('[network]', `${NETWORK} (default: all)`))
    .addHelpText('after', '\nExamples:\n  pf chain heal\n  pf chain heal base')
    .action(async (named: string | undefined, _options: unknown, command: Command) => {
      const { json, mode } = globalOptions(command);
      const stack = findStack(context.environment);
      const meant = named === undefined ? await networks(stack) : [await networkNamed(stack, named, mode)];
      await controlling(() => Promise.all(meant.map(({ controls }) => controls.heal())));
      const names = meant.map(({ name }) => name);
      createOutput(json, context.write).answer(
        { healed: names },
        () => `No fault or delay is active on ${names.join(', ')}.`,
      );
    });

  chain
    .command('status')
    .description('show the height of each local chain, and its active faults and delays')
    .action(async (_options: unknown, command: Command) => {
      const { json } = globalOptions(command);
      const all = await controlling(async () =>
        Promise.all(
          (await networks(findStack(context.environment))).map(async ({ name, caip2, controls }) => ({
            network: name,
            chain: caip2,
            ...(await controls.state()),
          })),
        ),
      );
      createOutput(json, context.write).answer({ networks: all }, () =>
        table([
          ['NETWORK', 'CHAIN', 'NODE', 'HEAD', 'FINAL', 'BLOCKS', 'ARMED'],
          ...all.map(({ network, chain: id, node, head, final, clock: blocks, armed }) => [
            network,
            id,
            node,
            String(head),
            String(final),
            blocks === 'running' ? 'come' : 'held',
            armed.join('; ') || '–',
          ]),
        ]),
      );
    });

  return chain;
}

const followLine = (intentId: string | null): readonly string[] =>
  intentId === null ? [] : [`Follow it with: pf intents follow ${intentId} --until finalized`];

async function reorgBlocks({ network, lines }: Waiting, depth: number, lose: boolean): Promise<void> {
  const { blocks, transactions } = await network.controls.reorg(depth, { lose });
  lines.line({ event: 'reorganised', network: network.name, blocks, transactions, lost: lose }, () =>
    [
      `${clock(new Date())}  A reorg removed the newest ${blocks} of ${network.name}; ` +
        `${transactions.length === 0 ? 'they held no transaction' : `${lose ? 'lost for good' : 'to land again'}:`}`,
      ...transactions.map((hash) => `          ${hash}`),
    ].join('\n'),
  );
}

/**
 * Holds the chain when the payment is in a block, until integrators have heard that it is confirmed: then it is taken
 * back.
 */
async function reorgPayment(session: Waiting, options: WaitingOptions, lose: boolean): Promise<void> {
  const held = await awaitPayment(
    session,
    options,
    'reorg',
    'is confirmed, and then taken back',
    await session.network.controls.hold(session.aim),
  );
  if (held === null) return;
  const isConfirmed = ({ state }: PaymentIntent): boolean => state === 'confirmed' || state === 'finalized';
  const intent = await session.intentOf(held, isConfirmed, CONFIRMED_WITHIN_MS);
  const { blocks, provenWithinSeconds } = await held.orphan({ lose });
  const state = intent?.state ?? null;
  tell(
    session,
    'orphaned',
    { reference: held.reference, intentId: intent?.id ?? null, stateBefore: state, blocks, lost: lose },
    held,
    [
      state === null
        ? 'It confirmed no intent of this account in time.'
        : `Its intent was ${state} and stays so: the API does not revert a confirmation.`,
      lose
        ? 'It can never land again. Next: intent.failed within ' +
          `${provenWithinSeconds === 0 ? 'seconds' : 'about a minute, while it could still land on another fork'}.`
        : 'It lands again in the next block. Next: intent.finalized.',
      ...followLine(intent?.id ?? null),
    ],
  );
}
