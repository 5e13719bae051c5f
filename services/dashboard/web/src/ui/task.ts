import { useMutation } from '@tanstack/react-query';
import { messageOf } from '../api/error.ts';
import { notify } from './toasts.tsx';

/** What a button does: it tells of a failure, and runs once at a time. */
export function useTask<Argument = void>(
  work: (argument: Argument) => Promise<unknown>,
): readonly [run: (argument: Argument) => void, isRunning: boolean] {
  const { mutate, isPending } = useMutation({
    mutationFn: work,
    onError: (error) => notify(messageOf(error), 'bad'),
  });
  return [(argument) => isPending || mutate(argument), isPending];
}
