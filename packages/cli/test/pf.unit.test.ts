import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { runPf } from '../src/index.ts';

describe('pf', () => {
  let data: string;
  beforeAll(async () => {
    data = await mkdtemp(path.join(tmpdir(), 'pf-'));
  });
  afterAll(() => rm(data, { recursive: true }));

  const pf = async (args: readonly string[], environment: NodeJS.ProcessEnv = {}) => {
    let out = '';
    let errors = '';
    const code = await runPf(args, {
      environment: { PF_DATA: data, ...environment },
      write: (text) => (out += text),
      writeError: (text) => (errors += text),
    });
    return { code, out, errors };
  };

  it('explains how to start a stack when none runs', async () => {
    expect(await pf(['accounts', 'list'])).toEqual({
      code: 1,
      out: '',
      errors: 'No stack is running. Start one with `npm start`, or name a database with DATABASE_URL.\n',
    });
  });

  it('prints errors as JSON on stderr with --json', async () => {
    const { code, out, errors } = await pf(['accounts', 'list', '--json']);
    expect({ code, out }).toEqual({ code: 1, out: '' });
    expect(JSON.parse(errors)).toEqual({
      error: { message: 'No stack is running. Start one with `npm start`, or name a database with DATABASE_URL.' },
    });
  });

  it('sends a terminal no control characters of what it shows', async () => {
    const { errors } = await pf(['\u001b]0;owned\u0007\u009b2J\u202ex\u200by']);
    expect(errors).toContain(String.raw`'\u001b]0;owned\u0007\u009b2J\u202ex\u200by'`);
  });

  it('names the database that is unavailable, without its password', async () => {
    const { code, errors } = await pf(['accounts', 'list'], { DATABASE_URL: 'postgresql://pf:hidden@127.0.0.1:1/pf' });
    expect(code).toBe(1);
    expect(errors).toBe(
      'The database at 127.0.0.1:1 does not respond. Is the stack running? Start it with `npm start`.\n',
    );
  });

  it('points to the help of the command that it could not parse', async () => {
    expect(await pf(['nonsense'])).toEqual({
      code: 2,
      out: '',
      errors: "unknown command 'nonsense'\nSee `pf --help`.\n",
    });
    expect((await pf(['keys', 'create', '--scop', 'payer'])).errors).toBe(
      "unknown option '--scop'\n(Did you mean --scope?)\nSee `pf keys create --help`.\n",
    );
  });

  it('asks for --account when there is no seeded account', async () => {
    await writeFile(
      path.join(data, 'stack.json'),
      JSON.stringify({ database: 'postgresql://pf:hidden@127.0.0.1:1/pf' }),
    );
    expect(await pf(['keys', 'list'])).toMatchObject({
      code: 1,
      errors: 'Name the account with --account ID. List the accounts with `pf accounts list`.\n',
    });
  });

  it('rejects a file that is not a stack file', async () => {
    await writeFile(path.join(data, 'stack.json'), '{"database":');
    const { code, errors } = await pf(['accounts', 'list']);
    expect(code).toBe(1);
    expect(errors).toContain('stack.json is not a valid stack file');
  });

  it.each([
    [['accounts', 'plan', 'acct_1', 'gold'], 'Allowed choices are free, growth, scale'],
    [['keys', 'create', '--scope', 'root'], 'Allowed choices are full, payer'],
    [['keys', 'list', '--mode', 'prod'], 'Allowed choices are test, live'],
    [['accounts', 'create'], "missing required argument 'name'"],
    [['webhooks', 'ad', 'http://x'], 'Did you mean add'],
    [['webhooks', 'create'], "missing required argument 'url'"],
    [['webhooks', 'enable'], "missing required argument 'url'"],
    [['webhooks', 'pause'], "missing required argument 'endpoint'"],
    [['webhooks', 'resume'], "missing required argument 'endpoint'"],
    [['webhooks', 'test'], "missing required argument 'endpoint'"],
    [['webhooks', 'attempts'], "missing required argument 'delivery'"],
    [['webhooks', 'deliveries', '--status', 'lost'], 'Allowed choices are'],
    [['deposits', 'list', '--state', 'lost'], 'Allowed choices are open, assigned, ignored'],
    [['deposits', 'get'], "missing required argument 'id'"],
    [['deposits', 'ignore'], "missing required argument 'id'"],
    [['deposits', 'reopen'], "missing required argument 'id'"],
    [['deposits', 'unassign'], "missing required argument 'id'"],
    [['deposits', 'assign', 'dp_1'], "missing required argument 'intent'"],
    [['secrets', 'rotat'], 'Did you mean rotate'],
  ])('explains wrong arguments: %j', async (args, explanation) => {
    const { code, out, errors } = await pf(args);
    expect({ code, out }).toEqual({ code: 2, out: '' });
    expect(errors).toContain(explanation);
  });

  it('shows help with examples', async () => {
    const { code, out, errors } = await pf(['webhooks', 'rotate-secret', '--help']);
    expect({ code, errors }).toEqual({ code: 0, errors: '' });
    expect(out).toContain('pf webhooks rotate-secret --mode live --at 2027-01-31T09:00:00Z');
    expect(out).toContain('--account');
  });

  it.each([
    [['webhooks', 'create'], 'pf webhooks create https://shop.example/webhooks --name shop --events intent.confirmed'],
    [['webhooks', 'enable'], '--replay'],
    [['deposits', 'list'], 'pf deposits list --state open'],
    [['deposits', 'reopen'], 'pf deposits reopen dp_'],
    [['deposits', 'assign'], 'pf deposits assign dp_'],
    [['deposits', 'unassign'], 'pf deposits unassign dp_'],
    [['webhooks', 'pause'], 'hold the deliveries of an endpoint'],
    [['webhooks', 'resume'], 'send the held deliveries'],
    [['webhooks', 'test'], 'send a test event'],
    [['webhooks', 'attempts'], 'list the attempts of a delivery'],
    [['secrets', 'rotate'], 'First give all services SECRETS_KEY=<old>,<new>'],
  ])('shows the help of %j', async (command, explanation) => {
    const { code, out, errors } = await pf([...command, '--help']);
    expect({ code, errors }).toEqual({ code: 0, errors: '' });
    expect(out).toContain(explanation);
  });
});
