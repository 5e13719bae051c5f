import path from 'node:path';
import { type KillableProcess, killableProcess } from '@pf/local/killable-process';
import { startReaper } from '@pf/local/reaper';
import { redisSpec } from '@pf/local/redis';
import { readSettings } from '@pf/local/settings';
import { freePorts, startTcpProxy, type TcpProxy, via } from '@pf/testing';

const ROOT = path.resolve(import.meta.dirname, '../../../..');

/** A Redis of a test or tool, and the way to it, which can be cut or frozen. */
export interface OwnRedis {
  readonly url: string;
  readonly process: KillableProcess;
  readonly way: TcpProxy;
  close(): Promise<void>;
}

/** @param folder gets its data and log */
export async function startRedis(folder: string): Promise<OwnRedis> {
  const [port = 0] = await freePorts(1);
  const settings = readSettings({ PF_DATA: folder, REDIS_PORT: String(port) }, ROOT);
  const { spec, url } = await redisSpec(settings);
  const reaper = startReaper();
  const process = killableProcess({
    label: 'Redis',
    log: path.join(folder, 'redis.log'),
    reaper,
    prepare: () => spec.prepare(),
    command: () => spec.command(),
    ready: () => spec.ready(),
  });
  await process.start();
  const way = await startTcpProxy(`127.0.0.1:${port}`);
  return {
    process,
    way,
    url: via(url, way.address),
    async close() {
      await way.close();
      await process.kill();
      reaper.close();
    },
  };
}
