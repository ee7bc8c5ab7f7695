/** What a check of a trunk looks at, in this order. */
type CheckStage = 'settings' | 'dns' | 'connection' | 'options' | 'call' | 'audio'

/** What is wrong with a trunk. */
type TrunkProblem =
  | 'secret_missing'
  | 'settings_contradict'
  | 'registration_failed'
  | 'address_not_permitted'
  | 'dns_not_found'
  | 'connection_refused'
  | 'connection_failed'
  | 'certificate_name'
  | 'certificate_date'
  | 'certificate_untrusted'
  | 'tls_failed'
  | 'no_response'
  | 'server_unavailable'
  | 'digest_missing'
  | 'digest_refused'
  | 'digest_realm'
  | 'digest_algorithm'
  | 'forbidden'
  | 'number_unknown'
  | 'moved'
  | 'srtp_refused'
  | 'srtp_required'
  | 'codec_refused'
  | 'media_refused'
  | 'call_failed'
  | 'no_audio_received'
  | 'no_audio_sent'
  | 'srtp_keys_differ'
  | 'media_from_elsewhere'

/** One result of a check. */
export interface Finding {
  readonly stage: CheckStage
  readonly result: 'ok' | 'problem' | 'skipped'
  /** Null unless the result is a problem. */
  readonly problem: TrunkProblem | null
  /** What was seen, in words. */
  readonly text: string
  /** How to mend it; null: nothing to mend. */
  readonly remedy: string | null
}

export function ok(stage: CheckStage, text: string): Finding {
  return { stage, result: 'ok', problem: null, text, remedy: null }
}

export function skipped(stage: CheckStage, text: string): Finding {
  return { stage, result: 'skipped', problem: null, text, remedy: null }
}

export function problem(stage: CheckStage, what: TrunkProblem, text: string, remedy: string): Finding {
  return { stage, result: 'problem', problem: what, text, remedy }
}
