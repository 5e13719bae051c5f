import { describe, expect, it } from '@jest/globals';
import { z } from 'zod';
import { readOverlay, workload } from './kustomization.ts';

const OVERLAYS = ['staging', 'production'].map((name) => ({ name, overlay: readOverlay(name) }));

const names = z.object({ matchExpressions: z.tuple([z.object({ key: z.literal('app.kubernetes.io/name'), operator: z.literal('In'), values: z.array(z.string()) })]) });
const monitor = z.object({ spec: z.object({ selector: names, podMetricsEndpoints: z.tuple([z.object({ port: z.string(), path: z.literal('/metrics') })]) }) });
const ports = z.array(z.object({ port: z.number() }));
const policy = z.object({ spec: z.object({ podSelector: names, ingress: z.tuple([z.object({ ports })]), egress: z.tuple([z.object({ ports })]) }) });

describe.each(OVERLAYS)('k8s/overlays/$name, watched', ({ overlay }) => {
  const deployments = overlay.objects.filter(({ kind }) => kind === 'Deployment').map((object) => workload.parse(object));
  const [asked] = overlay.objects.filter(({ kind }) => kind === 'PodMonitor').map((object) => monitor.parse(object).spec);
  const [open] = overlay.objects.filter(({ kind, metadata }) => kind === 'NetworkPolicy' && metadata.name === 'telemetry').map((object) => policy.parse(object).spec);
  const [telemetry = {}] = overlay.configMaps.get('telemetry') ?? [];

  it('asks every service for its metrics, at the port where it has them', () => {
    const services = [...new Set(deployments.map(({ spec }) => spec.template.metadata.labels['app.kubernetes.io/name']))].sort();
    expect([...(asked?.selector.matchExpressions[0].values ?? [])].sort()).toEqual(services);
    expect(open?.podSelector).toEqual(asked?.selector);
    for (const { spec } of deployments) {
      const [{ env, ports: opened }] = spec.template.spec.containers;
      const at = opened.find(({ name }) => name === asked?.podMetricsEndpoints[0].port)?.containerPort;
      expect(env.find(({ name }) => name === 'METRICS_PORT')?.value).toBe(String(at));
      expect(open?.ingress[0].ports).toEqual([{ port: at }]);
    }
  });

  it('lets traces out to where they are sent', () => {
    expect(open?.egress[0].ports).toEqual([{ port: Number(new URL(telemetry['OTEL_EXPORTER_OTLP_ENDPOINT'] ?? '').port) }]);
    for (const { spec } of deployments) expect(spec.template.spec.containers[0].envFrom).toContainEqual({ configMapRef: { name: 'telemetry', optional: true } });
  });
});
