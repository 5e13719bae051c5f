const REMEDIES = {
  invalid_id: 'Pass the id of an intent, as the service returned it.',
  invalid_audio: 'Pass a WAV file of PCM (8, 16, 24 or 32 bits) or 32-bit floats.',
  sample_rate: 'Use another microphone or speaker (Bluetooth headsets are too slow), or a QR code.',
  unsupported: 'Use a current browser, or a QR code.',
  insecure_context: 'Serve the page over https, or use a QR code.',
  ios: 'Use a QR code.',
  blocked: 'Call this from a click, or use a QR code.',
  script: 'Serve the script of @pf/client/sound/script.js with its own Content-Security-Policy (docs/guide/sound.md).',
  microphone_denied: 'Ask for the permission again after a click, or use a QR code.',
  microphone_missing: 'Connect a microphone, or use a QR code.',
  microphone_ended: 'Listen again, or use a QR code.',
  processing: 'Use another microphone or browser, or a QR code.',
  silent: 'Unmute the microphone in the system settings, or use a QR code.',
} as const;

export type SoundErrorCode = keyof typeof REMEDIES;

/** Why a sound cannot be played, heard, encoded or decoded. A caller shows a QR code instead. */
export class SoundError extends Error {
  override readonly name = 'SoundError';
  readonly code: SoundErrorCode;
  /** What helps, for the people who run the page. */
  readonly remedy: string;

  constructor(code: SoundErrorCode, message: string, options?: ErrorOptions) {
    super(`${message} ${REMEDIES[code]}`, options);
    this.code = code;
    this.remedy = REMEDIES[code];
  }
}
