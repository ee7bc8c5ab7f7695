/**
 * A billable quantity of one service. Token counts are the service's own; when it reports none (the answer was aborted, or
 * the service never reports usage) they are estimated as one token per four characters.
 */
export interface UsageReport {
  readonly meter:
    | 'llm_input_tokens'
    | 'llm_output_tokens'
    /** Tokens of audio that a speech-to-speech model heard; the other tokens of the answer count as `llm_input_tokens`. */
    | 'llm_audio_input_tokens'
    /** Tokens of audio that such a model spoke. */
    | 'llm_audio_output_tokens'
    | 'stt_ms'
    | 'tts_characters'
  readonly provider: string
  readonly model_id: string
  /** At least 0; ms need not be whole. */
  readonly quantity: number
}
