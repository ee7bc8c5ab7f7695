import { existsSync } from 'node:fs'
import { join } from 'node:path'
import type { AtTestEnd } from './clean-up.ts'
import { freePeerPorts, rtpRange } from './ports.ts'
import { type Recipe, readRunFile, startRecipe } from './recipe.ts'

interface LinphoneOptions {
  /** Such as "2:5" (digit 5 after 2 s), "4:pause", "6:resume 1". Default: none. */
  readonly actions?: readonly string[]
  /** It hangs up this long after the answer. Default: 10 as a caller, 60 as a callee. */
  readonly callSeconds?: number
  readonly atTestEnd?: AtTestEnd
}

interface LinphoneResult {
  /** 0: a call was established and has ended; 1: none was; 2: linphone could not start. */
  readonly exitCode: number
  /** linphone's debug log with every SIP message in and out. */
  readonly log: string
  readonly output: string
  /** Recording of the received audio; undefined when there was none. The test's end removes it. */
  readonly heardWav: string | undefined
  readonly microphoneWav: string
}

interface LinphoneCallee {
  /** At the registrar that linphone is registered with over TLS. */
  readonly uri: string
  readonly finished: Promise<LinphoneResult>
}

/** Calls `target`; its host must be a name that the certificate bears, such as localhost. Only inside a test. */
export async function runLinphoneCaller(target: string, options: LinphoneOptions = {}): Promise<LinphoneResult> {
  const ports = await freePeerPorts()
  const recipe = startRecipe(
    'linphone/run.sh',
    { ...environment(options, ports, 10), ROLE: 'caller', TARGET_URI: target },
    options.atTestEnd,
  )
  return resultOf(recipe)
}

/** Resolves when it is registered; it takes one call. Only inside a test. Throws when it cannot start. */
export async function startLinphoneCallee(options: LinphoneOptions = {}): Promise<LinphoneCallee> {
  const ports = await freePeerPorts()
  const registrar = await freePeerPorts()
  const recipe = startRecipe(
    'linphone/run.sh',
    {
      ...environment(options, ports, 60),
      ROLE: 'callee',
      REG_PORT: String(registrar.tls),
      REG_UDP_PORT: String(registrar.tls - 1),
    },
    options.atTestEnd,
  )
  if (!(await recipe.printed(/^ready/m))) throw new Error(`linphone did not start:\n${recipe.output()}`)
  return { uri: `sip:linphone@127.0.0.1:${registrar.tls};transport=tls`, finished: resultOf(recipe) }
}

function environment(
  options: LinphoneOptions,
  ports: Awaited<ReturnType<typeof freePeerPorts>>,
  callSeconds: number,
): Record<string, string> {
  return {
    PORT: String(ports.tls),
    RTP_PORTS: rtpRange(ports),
    ACTIONS: (options.actions ?? []).join('|'),
    CALL_SECONDS: String(options.callSeconds ?? callSeconds),
  }
}

async function resultOf(recipe: Recipe): Promise<LinphoneResult> {
  const exitCode = await recipe.exited
  const received = join(recipe.directory, 'heard.wav')
  return {
    exitCode,
    log: readRunFile(recipe.directory, 'linphone.log'),
    output: recipe.output(),
    heardWav: existsSync(received) ? received : undefined,
    microphoneWav: join(recipe.directory, 'mic.wav'),
  }
}
