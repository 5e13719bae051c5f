// The kubectl that the pages get in the checks: it runs the real one, and notes what does not succeed. Nothing runs
// in the pods and no node has them, so `exec` and `top` come as far as the API server, and `wait` waits in vain, unless
// for the end of a pod.
//   node kubectl.ts CLUSTER_PROGRAM ARGUMENTS…
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { complain, COMPLAINTS } from './complaints.ts';

/** How the real one has to fail. */
const REFUSALS: Readonly<Record<string, string>> = {
  exec: 'does not have a host assigned',
  top: 'Metrics API not available',
  wait: 'timed out waiting for the condition',
};
/** A person is slower: the next pod was not there yet, or the last restart was a moment ago. */
const TOO_SOON = /within the past second|pods "[\w-]+" not found|No resources found/;
/** The overlay has made it before. */
const ALREADY_THERE = 'namespaces "payments" already exists';
const TRIES = 10;
const PAUSE_MS = 500;
/** What succeeded once need not be asked again. */
const REPEATED = ['exec', 'logs', 'patch', 'rollout', 'top'];
const SERVICES = /^deploy(ment)?\/(checkout|dashboard|gateway|intent|webhook)$/;

const [program = '', ...args] = process.argv.slice(2);
const verb = args.find((arg, index) => !arg.startsWith('-') && args[index - 1] !== '-n') ?? '';
const takesInput = args.includes('-i') || args.includes('-');
const refuse = (text: string): void => complain(`kubectl ${args.join(' ')}: ${text}`);

async function ask(): Promise<string> {
  const refusal = args.includes('--for=delete') ? undefined : REFUSALS[verb];
  for (let tries = 1; ; tries++) {
    const { status, stdout, stderr } = spawnSync(
      program,
      ['kubectl', ...args.map((arg) => (refusal !== undefined && arg.startsWith('--timeout=') ? '--timeout=1s' : arg))],
      { stdio: [takesInput ? 'inherit' : 'ignore', 'pipe', 'pipe'], encoding: 'utf8' },
    );
    if (TOO_SOON.test(stderr) && tries < TRIES) {
      await delay(PAUSE_MS);
      continue;
    }
    if (refusal !== undefined) {
      if (status === 0 || !stderr.includes(refusal)) refuse(`should end with "${refusal}": ${stderr}`);
    } else if (status !== 0 && !stderr.includes(ALREADY_THERE)) refuse(stderr);
    // For kubectl a selector without objects is no error.
    else if (stderr.includes('No resources found')) refuse(stderr);
    return stdout;
  }
}

/** What succeeds, and does not do what its reader expects. */
function checkMeaning(): void {
  const scaled = verb === 'scale' && args.find((arg) => SERVICES.test(arg));
  if (scaled) checkScale(scaled);
  if (verb === 'logs') {
    if (args.some((arg) => SERVICES.test(arg))) refuse('it reads one pod of several');
    const isTailed = args.some((arg) => arg.startsWith('--tail='));
    if (args.includes('-l') && !isTailed) refuse('without --tail it reads ten lines of each pod');
  }
  if (verb !== 'exec') return;
  // The image has Node alone; the broker's has a shell and Kafka's tools.
  const command = args.slice(args.indexOf('--') + 1).join(' ');
  const isBroker = args[args.indexOf('kafka') - 1] === '-n';
  const isThere = (isBroker ? /^(sh -c |bin\/kafka-[a-z-]+\.sh )/ : /^node (-[ep] |dist\/main\.js pf )/).test(command);
  if (!isThere) refuse(`the image has no "${command}"`);
}

/** A HorizontalPodAutoscaler leaves alone what has no replicas; KEDA, which scales the webhook service, does not. */
function checkScale(service: string): void {
  const stopped = path.join(folder, `stopped-${service.replace('/', '-')}`);
  const stops = args.includes('--replicas=0');
  if (service.endsWith('webhook') || !(stops || existsSync(stopped))) refuse('the autoscaler sets it back');
  if (stops) writeFileSync(stopped, '');
  else rmSync(stopped, { force: true });
}

const folder = path.dirname(process.env[COMPLAINTS] ?? '');
const hash = createHash('sha256').update(JSON.stringify(args)).digest('hex');
const memory = path.join(folder, `said-${hash.slice(0, 16)}`);
checkMeaning();
const isKnown = REPEATED.includes(verb) && !takesInput && existsSync(memory);
const said = isKnown ? readFileSync(memory, 'utf8') : await ask();
writeFileSync(memory, said);
// `head` may be gone already.
process.stdout.on('error', () => undefined).write(said);
