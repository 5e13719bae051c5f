import type { InputTopic, Topic } from './port.ts';

export const TOPICS: readonly Topic[] = ['intent.commands', 'chain.observations', 'intent.events', 'intent.dead'];
export const INPUT_TOPICS: readonly InputTopic[] = ['intent.commands', 'chain.observations'];
/** The group of the partitions' owners. */
export const OWNER_GROUP = 'intent';

/** The names of topics, groups and writers in the cluster, with the prefix of the stack or test. */
export class Names {
  readonly #prefix: string;

  constructor(prefix: string) {
    this.#prefix = prefix;
  }

  topic(topic: Topic): string {
    return this.#prefix + topic;
  }

  /** The reverse; undefined for a topic that is not ours. */
  inputTopic(name: string): InputTopic | undefined {
    return INPUT_TOPICS.find((topic) => this.topic(topic) === name);
  }

  group(name: string): string {
    return this.#prefix + name;
  }

  /** One id per partition in all processes: a process that takes the id fences the one that had it. */
  transactionalId(partition: number): string {
    return `${this.#prefix}intent-writer-${partition}`;
  }
}
