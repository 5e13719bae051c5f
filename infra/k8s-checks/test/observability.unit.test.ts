import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { parse } from 'yaml';
import { z } from 'zod';
import { ROOT } from './kustomization.ts';

const read = (file: string): unknown => parse(readFileSync(path.join(ROOT, file), 'utf8'), { merge: true });
const service = z.object({
  profiles: z.array(z.string()).default([]),
  environment: z.record(z.string(), z.string()).default({}),
  volumes: z.array(z.string()).default([]),
  command: z.array(z.string()).optional(),
});
const { services } = z.object({ services: z.record(z.string(), service) }).parse(read('docker-compose.yml'));
const prometheus = z
  .object({
    rule_files: z.array(z.string()),
    scrape_configs: z.tuple([z.object({ static_configs: z.tuple([z.object({ targets: z.array(z.string()) })]) })]),
  })
  .parse(read('infra/observability/prometheus/prometheus.yml'));

const observers = Object.entries(services).filter(([, { profiles }]) => profiles.includes('observability'));

describe('the profile observability of docker-compose.yml', () => {
  it('has Prometheus scrape every container with metrics', () => {
    const targets = Object.entries(services).flatMap(([name, { environment }]) =>
      environment['METRICS_PORT'] ? [`${name}:${environment['METRICS_PORT']}`] : [],
    );
    expect(targets.length).toBeGreaterThanOrEqual(4);
    expect([...prometheus.scrape_configs[0].static_configs[0].targets].sort()).toEqual(targets.sort());
    for (const file of prometheus.rule_files)
      expect(existsSync(path.join(ROOT, 'infra/observability/prometheus', file))).toBe(true);
  });

  it('runs the collector at the endpoint that the services send traces to', () => {
    const { receivers } = z
      .object({
        receivers: z.object({ otlp: z.object({ protocols: z.object({ http: z.object({ endpoint: z.string() }) }) }) }),
      })
      .parse(read('infra/observability/collector/config.yaml'));
    const port = receivers.otlp.protocols.http.endpoint.split(':').at(-1);
    expect(readFileSync(path.join(ROOT, 'docker-compose.yml'), 'utf8')).toContain(
      `OTEL_EXPORTER_OTLP_ENDPOINT=http://collector:${port} docker compose`,
    );
    expect(observers.map(([name]) => name)).toContain('collector');
  });

  it('mounts only files of the repository', () => {
    const mounted = observers.flatMap(([, { volumes }]) =>
      volumes.filter((volume) => volume.startsWith('./')).map((volume) => volume.split(':')[0] ?? ''),
    );
    expect(mounted.length).toBeGreaterThan(0);
    for (const one of mounted) expect({ one, exists: existsSync(path.join(ROOT, one)) }).toEqual({ one, exists: true });
  });

  it('provisions Grafana with the mounted dashboards and the running Prometheus', () => {
    const { providers } = z
      .object({ providers: z.tuple([z.object({ options: z.object({ path: z.string() }) })]) })
      .parse(read('infra/observability/grafana/provisioning/dashboards/payments.yml'));
    expect(services['grafana']?.volumes).toContain(
      `./infra/observability/grafana/dashboards:${providers[0].options.path}:ro`,
    );
    const { datasources } = z
      .object({ datasources: z.array(z.object({ type: z.string(), url: z.url() })) })
      .parse(read('infra/observability/grafana/provisioning/datasources/payments.yml'));
    for (const { url } of datasources) expect(Object.keys(services)).toContain(new URL(url).hostname);
  });
});
