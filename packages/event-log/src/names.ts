import type { InputTopic, Topic } from './port.ts';

export const TOPICS: readonly Topic[] = ['intent.commands', 'chain.observations', 'intent.events', 'intent.dead'];
export const INPUT_TOPICS: readonly InputTopic[] = ['intent.commands', 'chain.observations'];
/** The group of the partitions' owners. */
export const OWNER_GROUP = 'intent';

/** What the cluster calls our topics, groups and writers: the same names behind a prefix of the stack or the test. */
export class Names {
  readonly #prefix: string;

  constructor(prefix: string) {
    this.#prefix = prefix;
  }

  topic(topic: Topic): string {
    return this.#prefix + topic;
  }

  /** The way back; undefined for a topic that is none of ours. */
  inputTopic(name: string): InputTopic | undefined {
    return INPUT_TOPICS.find((topic) => this.topic(topic) === name);
  }

  group(name: string): string {
    return this.#prefix + name;
  }

  /** One id a partition, whatever the process: taking the id over is what fences its former holder. */
  transactionalId(partition: number): string {
    return `${this.#prefix}intent-writer-${partition}`;
  }
}
