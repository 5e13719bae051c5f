/** What a control cannot do, with the reason for people. */
export class ControlError extends Error {
  override readonly name = 'ControlError';
}
