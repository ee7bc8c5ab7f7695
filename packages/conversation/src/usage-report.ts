/**
 * What a service was used for, as it bills it. Tokens are the service's own count where it tells; of an answer for which it
 * tells nothing (one that was given up, or it never does) characters are counted, four as a token.
 */
export interface UsageReport {
  readonly meter: 'llm_input_tokens' | 'llm_output_tokens' | 'stt_ms' | 'tts_characters'
  readonly provider: string
  readonly model_id: string
  /** At least 0; ms need not be whole. */
  readonly quantity: number
}
