import type { Logger } from '@pf/runtime';
import type { Kernel } from '@pf/simulation/kernel';

type Write = (fieldsOrText: unknown, text?: string) => void;

/** A logger whose lines become notes of the trace. @param onAlarm called with its fields */
export function traceLogger(
  kernel: Kernel,
  onAlarm: (alarm: string, fields: object & { partition?: unknown }) => void,
): Logger {
  const write =
    (level: string): Write =>
    (fields, text) => {
      if (typeof fields === 'object' && fields !== null && 'alarm' in fields) onAlarm(String(fields.alarm), fields);
      if (!kernel.tracing || level === 'debug') return;
      kernel.trace(`${level}: ${typeof fields === 'string' ? fields : `${text} ${shortly(fields)}`}`);
    };
  const logger = {
    debug: write('debug'),
    info: write('info'),
    warn: write('warn'),
    error: write('error'),
    child: () => logger,
  };
  // The services use no more of a logger than this.
  return logger as unknown as Logger;
}

const LONGEST = 400;

function shortly(fields: unknown): string {
  const text = JSON.stringify(fields, (_, value: unknown) =>
    value instanceof Error
      ? `${value.name}: ${value.message}${value.cause instanceof Error ? ` (${value.cause.message})` : ''}`
      : typeof value === 'bigint'
        ? String(value)
        : value,
  );
  return text.length > LONGEST ? `${text.slice(0, LONGEST)}…` : text;
}
