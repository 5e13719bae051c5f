import { describe, expect, it } from '@jest/globals';
import { z } from 'zod';
import { readOverlay, workload } from './kustomization.ts';

const OVERLAYS = ['staging', 'production'].map((name) => ({ name, overlay: readOverlay(name) }));

const labels = z.record(z.string(), z.string());
const service = z.object({
  metadata: z.object({ labels }),
  spec: z.object({
    clusterIP: z.literal('None'),
    publishNotReadyAddresses: z.literal(true),
    selector: labels,
    ports: z.tuple([z.object({ name: z.string(), targetPort: z.string() })]),
  }),
});
const monitor = z.object({
  spec: z.object({
    selector: z.object({ matchLabels: labels }),
    endpoints: z.tuple([z.object({ port: z.string(), path: z.literal('/metrics') })]),
  }),
});
const ports = z.array(z.object({ port: z.number() }));
const policy = z.object({
  spec: z.object({
    podSelector: z.object({ matchLabels: labels }),
    ingress: z.tuple([z.object({ ports })]),
    egress: z.tuple([z.object({ ports })]),
  }),
});

describe.each(OVERLAYS)('the monitoring of k8s/overlays/$name', ({ overlay }) => {
  const deployments = overlay.objects
    .filter(({ kind }) => kind === 'Deployment')
    .map((object) => workload.parse(object))
    // What only sets up measures nothing.
    .filter(({ spec }) => spec.template.spec.containers[0].readinessProbe !== undefined);
  const [scrape] = overlay.objects
    .filter(({ kind }) => kind === 'ServiceMonitor')
    .map((object) => monitor.parse(object).spec);
  const [metrics] = overlay.objects
    .filter(({ kind, metadata }) => kind === 'Service' && metadata.name === 'metrics')
    .map((object) => service.parse(object));
  const [telemetryPolicy] = overlay.objects
    .filter(({ kind, metadata }) => kind === 'NetworkPolicy' && metadata.name === 'telemetry')
    .map((object) => policy.parse(object).spec);
  const [telemetry = {}] = overlay.configMaps.get('telemetry') ?? [];

  it('scrapes every service on its metrics port', () => {
    expect(scrape?.selector.matchLabels).toEqual(metrics?.metadata.labels);
    expect(scrape?.endpoints[0].port).toBe(metrics?.spec.ports[0].name);
    expect(telemetryPolicy?.podSelector.matchLabels).toEqual(metrics?.spec.selector);
    for (const { spec } of deployments) {
      const [{ env, ports: containerPorts }] = spec.template.spec.containers;
      const metricsPort = containerPorts.find(({ name }) => name === metrics?.spec.ports[0].targetPort)?.containerPort;
      expect(spec.template.metadata.labels).toMatchObject(metrics?.spec.selector ?? {});
      expect(env.find(({ name }) => name === 'METRICS_PORT')?.value).toBe(String(metricsPort));
      expect(telemetryPolicy?.ingress[0].ports).toEqual([{ port: metricsPort }]);
    }
  });

  it('allows traces to the endpoint that they are sent to', () => {
    expect(telemetryPolicy?.egress[0].ports).toEqual([
      { port: Number(new URL(telemetry['OTEL_EXPORTER_OTLP_ENDPOINT'] ?? '').port) },
    ]);
    for (const { spec } of deployments)
      expect(spec.template.spec.containers[0].envFrom).toContainEqual({
        configMapRef: { name: 'telemetry', optional: true },
      });
  });
});
