import { join } from 'node:path'
import { readRunFile, startRecipe } from './recipe.ts'

export interface SippOptions {
  /** A file of `sipp/` without ".xml": "uac-basic", "uac-cancel", "uac-hold", "uas". */
  readonly scenario: string
  /** "host:port", for the calling scenarios. */
  readonly target?: string
  /** User part that is called. Default: "callee". */
  readonly service?: string
  /** Its own SIP port (UDP) and first RTP port. */
  readonly port: number
  readonly mediaPort: number
  /** Length of the call (uac-basic), ringing before CANCEL (uac-cancel) or before the 200 (uas). */
  readonly pauseMs?: number
  /** Direction offered while on hold (uac-hold). Default: "sendonly". */
  readonly hold?: 'sendonly' | 'inactive'
  /** Default: 1 call, 1 a second. */
  readonly calls?: number
  readonly callsPerSecond?: number
  /** It gives up after this long. Default: 60. */
  readonly maxSeconds?: number
}

export interface SippResult {
  /** 0 when every call went as the scenario says. */
  readonly exitCode: number
  /** Every message in and out. */
  readonly messages: string
  readonly output: string
  readonly microphoneWav: string
}

/** Runs one scenario over UDP to its end. Only inside a test. */
export async function runSipp(options: SippOptions): Promise<SippResult> {
  const env: Record<string, string> = {
    SCENARIO: options.scenario,
    PORT: String(options.port),
    MEDIA_PORT: String(options.mediaPort),
    SERVICE: options.service ?? 'callee',
    HOLD: options.hold ?? 'sendonly',
    CALLS: String(options.calls ?? 1),
    RATE: String(options.callsPerSecond ?? 1),
    MAX_SECONDS: String(options.maxSeconds ?? 60),
  }
  if (options.target !== undefined) env.TARGET = options.target
  if (options.pauseMs !== undefined) env.PAUSE_MS = String(options.pauseMs)
  const recipe = startRecipe('sipp/run.sh', env)
  const exitCode = await recipe.exited
  return {
    exitCode,
    messages: readRunFile(recipe.directory, 'messages.log'),
    output: recipe.output(),
    microphoneWav: join(recipe.directory, 'mic.wav'),
  }
}
