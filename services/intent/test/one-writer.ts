import { type Cluster, startCluster } from '@pf/testing';
import { afterAll, beforeAll } from '@jest/globals';
import { CommandClient, type RunningWriter, startWriter } from './running-writer.ts';

export interface OneWriter {
  readonly cluster: Cluster;
  readonly running: RunningWriter;
  readonly client: CommandClient;
}

/** One writer with a client for all tests of a file, on topics and a database of its own. */
export function withOneWriter(): OneWriter {
  const one: { -readonly [Part in keyof OneWriter]?: OneWriter[Part] } = {};
  beforeAll(async () => {
    one.cluster = await startCluster();
    one.client = await CommandClient.open(one.cluster.log, one.cluster.database);
    one.running = await startWriter(one.cluster);
  });
  afterAll(async () => {
    await one.running?.stop();
    await one.client?.close();
    await one.cluster?.close();
  });
  // Complete once a test runs.
  return one as OneWriter;
}
