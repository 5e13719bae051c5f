// One bootstrap at a time changes .tools and node_modules; a second one in another terminal waits for the first.
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { say } from './say.mjs';

/**
 * @template T
 * @param {string} tools
 * @param {() => Promise<T>} work
 * @returns {Promise<T>}
 */
export async function oneAtATime(tools, work) {
  mkdirSync(tools, { recursive: true });
  const file = path.join(tools, 'setup.lock');
  for (let told = false; ; await sleep(200)) {
    try {
      writeFileSync(file, String(process.pid), { flag: 'wx' });
      break;
    } catch (error) {
      if (error.code !== 'EEXIST') throw error;
    }
    const holder = Number(readIfThere(file));
    // Just made and still empty: its number comes in a moment.
    if (holder > 0 && !isAlive(holder)) rmSync(file, { force: true });
    else if (!told) {
      say(`  … another command prepares the workspace (process ${holder}); waiting for it`);
      told = true;
    }
  }
  try {
    return await work();
  } finally {
    rmSync(file, { force: true });
  }
}

function readIfThere(file) {
  try {
    return readFileSync(file, 'utf8');
  } catch (error) {
    if (error.code === 'ENOENT') return '';
    throw error;
  }
}

function isAlive(pid) {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return error.code === 'EPERM';
  }
}
