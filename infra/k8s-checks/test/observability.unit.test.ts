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

describe('docker-compose.yml, profile observability', () => {
  it('has Prometheus ask every container that has metrics', () => {
    const measured = Object.entries(services).flatMap(([name, { environment }]) =>
      environment['METRICS_PORT'] ? [`${name}:${environment['METRICS_PORT']}`] : [],
    );
    expect(measured.length).toBeGreaterThanOrEqual(4);
    expect([...prometheus.scrape_configs[0].static_configs[0].targets].sort()).toEqual(measured.sort());
    for (const file of prometheus.rule_files)
      expect(existsSync(path.join(ROOT, 'infra/observability/prometheus', file))).toBe(true);
  });

  it('has the collector where the services are told to send their traces', () => {
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

  it('mounts only what is in the repository', () => {
    const mounted = observers.flatMap(([, { volumes }]) =>
      volumes.filter((volume) => volume.startsWith('./')).map((volume) => volume.split(':')[0] ?? ''),
    );
    expect(mounted.length).toBeGreaterThan(0);
    for (const one of mounted) expect({ one, exists: existsSync(path.join(ROOT, one)) }).toEqual({ one, exists: true });
  });

  it('shows the dashboards of the folder that is mounted, from the Prometheus that runs', () => {
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
