import { chmod, mkdtemp, rm } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';

type End = () => Promise<unknown> | void;

/** What a bench starts for itself, with its data in a folder of its own. All of it is ended with the bench. */
export class BenchResources {
  readonly folder: string;
  readonly #ends: End[] = [];
  #closed = false;

  private constructor(folder: string) {
    this.folder = folder;
  }

  /** @param name of the bench, in the name of the folder */
  static async in(name: string): Promise<BenchResources> {
    const folder = await mkdtemp(path.join(os.tmpdir(), `pf-${name}-`));
    // Postgres may run as another user; its own folder is closed to others.
    await chmod(folder, 0o711);
    return new BenchResources(folder);
  }

  /** Registers how a resource ends as soon as it runs: another one that starts beside it may fail, and end them all. */
  async start<Resource>(
    starting: Promise<Resource>,
    end: (resource: Resource) => Promise<unknown> | void,
  ): Promise<Resource> {
    const resource = await starting;
    if (this.#closed) await end(resource);
    else this.endBy(() => end(resource));
    return resource;
  }

  /** Runs before what was registered earlier. */
  endBy(end: End): void {
    this.#ends.unshift(end);
  }

  /**
   * Ends all of them, the latest first.
   * @param keep leaves the folder for a look
   * @throws AggregateError of those that did not end
   */
  async close(keep: boolean): Promise<void> {
    this.#closed = true;
    const failures: unknown[] = [];
    for (const end of this.#ends.splice(0)) {
      try {
        await end();
      } catch (error) {
        // Every one runs: what stays open would hide the cause.
        failures.push(error);
      }
    }
    if (!keep) await rm(this.folder, { recursive: true, force: true });
    if (failures.length > 0) throw new AggregateError(failures, `the resources in ${this.folder} were not ended`);
  }
}
