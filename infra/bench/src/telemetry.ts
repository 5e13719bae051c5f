import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { commandLine, count } from '@pf/local/command';
import { type Cluster, freePorts, startCluster } from '@pf/testing';
import { cpuSecondsOf } from './cpu.ts';
import { type Measured, measureCreates, type Target } from './creates.ts';
import { median } from './percentiles.ts';

/**
 * What telemetry costs: creates per second without it, with metrics that are read every five seconds, and with metrics
 * and a tenth of all traces sent by OTLP. Each on services of its own, taken in turns, so that a noisy machine is noisy
 * for all of them; what is compared is each round's ratio to the round without. Goal: at least 0.95. The CPU that the
 * two services used a create says the same on a machine that others use too.
 */
const {
  values: { clients, seconds, rounds, ratio },
} = commandLine({
  name: 'npm run bench:telemetry',
  about: 'Measures the cost of metrics and traces.',
  options: {
    clients: count('Clients at once', 64, { most: 10_000 }),
    seconds: count('How long a round takes', 6, { most: 3_600 }),
    rounds: count('Turns of each', 8, { most: 1_000 }),
    ratio: count('Share of traces that is sampled: with 1 a span shows through the noise', 0.1, {
      least: 0,
      most: 1,
      step: null,
    }),
  },
});
const WARM_UP_SECONDS = 5;
const SCRAPE_EVERY_MS = 5_000;
const GOAL = 0.95;

/** A collector that reads nothing: another machine's work is not to be measured here. In a process of its own. */
const SINK = `require('node:http')
  .createServer((request, response) => request.resume().on('end', () => response.end()))
  .listen(0, '127.0.0.1', function () { console.log(this.address().port) })`;

const sink = spawn(process.execPath, ['-e', SINK], { stdio: ['ignore', 'pipe', 'inherit'] });
const [port] = (await once(sink.stdout, 'data')) as [Buffer];
const tracing = {
  OTEL_EXPORTER_OTLP_ENDPOINT: `http://127.0.0.1:${String(port).trim()}`,
  OTEL_METRICS_EXPORTER: 'none',
  OTEL_TRACES_SAMPLER: 'parentbased_traceidratio',
  OTEL_TRACES_SAMPLER_ARG: String(ratio),
};
const kinds = [
  { name: 'none', metrics: false, env: {} },
  { name: 'metrics', metrics: true, env: {} },
  { name: `metrics and ${ratio * 100} % of traces`, metrics: true, env: tracing },
] as const;

/** Services under load, and how to learn what CPU they have used. */
interface Loaded extends Target {
  readonly cpuMs: () => number;
}
interface Round extends Measured {
  /** Of gateway and writer together, a create. */
  readonly cpuMs: number;
}

async function measure(target: Loaded, seconds: number): Promise<Round> {
  const before = target.cpuMs();
  const measured = await measureCreates(target, () => ({}), clients, seconds);
  return { ...measured, cpuMs: (target.cpuMs() - before) / (measured.perSecond * seconds) };
}

const clusters: Cluster[] = [];
const pages: string[] = [];
async function start({ name, metrics, env }: (typeof kinds)[number]): Promise<Loaded> {
  const cluster = await startCluster();
  clusters.push(cluster);
  const [gatewayPort, intentPort] = await freePorts(2);
  const settings = (metricsPort: number | undefined): Record<string, string> => ({
    LOG_LEVEL: 'warn',
    NODE_ENV: 'production',
    ...env,
    ...(metrics && { METRICS_PORT: String(metricsPort) }),
  });
  const [gateway, intent] = await Promise.all([
    cluster.start('gateway', { env: settings(gatewayPort) }),
    cluster.start('intent', { env: settings(intentPort) }),
  ]);
  if (metrics) pages.push(...[gatewayPort, intentPort].map((at) => `http://127.0.0.1:${at}/metrics`));
  return {
    name,
    url: gateway.url,
    apiKey: cluster.apiKeys.test,
    cpuMs: () => 1_000 * (cpuSecondsOf(gateway.pid) + cpuSecondsOf(intent.pid)),
  };
}

const scrape = setInterval(
  () => void Promise.all(pages.map(async (page) => (await fetch(page)).text())),
  SCRAPE_EVERY_MS,
);
try {
  const targets: Loaded[] = [];
  for (const kind of kinds) targets.push(await start(kind));
  for (const target of targets) await measure(target, WARM_UP_SECONDS);

  const runs = new Map<Loaded, Round[]>(targets.map((target) => [target, []]));
  for (let round = 0; round < rounds; round++) {
    // The first of a round is another one each time: none is always after a pause.
    const order = targets
      .map((_, place) => targets[(place + round) % targets.length])
      .filter((target) => target !== undefined);
    for (const target of order) runs.get(target)?.push(await measure(target, seconds));
  }

  console.log(`\nCreates with ${clients} clients; medians of ${rounds} rounds of ${seconds} s, in turns.\n`);
  console.log(
    '| telemetry | creates/s | p50 ms | p99 ms | CPU ms a create | creates/s to none: median | lowest | highest |',
  );
  console.log('| --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: |');
  const [none = []] = runs.values();
  let worst = 1;
  for (const [{ name }, measured] of runs) {
    const of = (field: keyof Round): number => median(measured.map((one) => one[field]));
    const ratios = measured.map(({ perSecond }, round) => perSecond / (none[round]?.perSecond ?? Number.NaN));
    worst = Math.min(worst, median(ratios));
    const cells = [Math.round(of('perSecond')), of('p50').toFixed(0), of('p99').toFixed(0), of('cpuMs').toFixed(2)];
    const compared = [median(ratios), Math.min(...ratios), Math.max(...ratios)].map((ratio) => ratio.toFixed(3));
    console.log(`| ${[name, ...cells, ...compared].join(' | ')} |`);
  }
  const verdict = worst >= GOAL ? 'Within' : 'BEYOND';
  console.log(`\n${verdict} the goal: telemetry costs at most ${Math.round((1 - GOAL) * 100)} % of the throughput.`);
} finally {
  clearInterval(scrape);
  sink.kill('SIGKILL');
  await Promise.all(clusters.map((cluster) => cluster.close()));
}
