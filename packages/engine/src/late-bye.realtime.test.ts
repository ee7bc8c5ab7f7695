import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { ensureLocalCertificate, parseUri, type SipCallLeg, type SipUri } from '@parley/leg'
import { expect, it, onTestFinished } from 'vitest'
import type { CallPlan } from './call-plan.ts'
import { Engine, type EngineOptions } from './engine.ts'
import { ADMITS_WHEN_LATE, SILENT_CALL, testRouter } from './testing/index.ts'

const TOKEN = 'latebye234567token'
const CALLER = { displayName: undefined, uri: parseUri('sip:+15550002222@localhost') as SipUri, params: new Map() }

interface EngineParts {
  readonly tls: EngineOptions['endpoint']['tls']
  readonly ports: { readonly from: number; readonly to: number }
  /** Of calls with `TOKEN`; null: it takes none. */
  readonly plan: CallPlan | null
}

/** An engine that is closed at the end of the test. */
async function startEngine({ tls, ports, plan }: EngineParts): Promise<Engine> {
  const engine = await Engine.start({
    ...ADMITS_WHEN_LATE,
    endpoint: { tls, rtp: { ports, threads: 1 }, userAgentName: 'Parley' },
    router: testRouter(plan === null ? [] : [{ token: TOKEN, security: 'rtp-only', plan: () => plan }]),
  })
  onTestFinished(() => engine.close())
  return engine
}

it('a BYE for a call that we dialled and that is over is answered 481, though no trunk lists the address', async () => {
  const directory = mkdtempSync(join(tmpdir(), 'parley-late-bye.'))
  onTestFinished(() => rmSync(directory, { recursive: true, force: true }))
  const tls = await ensureLocalCertificate(directory, { names: ['localhost'], addresses: ['127.0.0.1'] })
  let dialog: SipCallLeg['dialog'] = null
  const plan: CallPlan = {
    ...SILENT_CALL,
    whileRinging: async leg => {
      dialog = leg.dialog
      return { kind: 'answer' }
    },
  }
  const callee = await startEngine({ tls, ports: { from: 41_000, to: 41_098 }, plan })
  const caller = await startEngine({ tls, ports: { from: 41_100, to: 41_198 }, plan: null })
  const uri = parseUri(`sip:${TOKEN}@127.0.0.1:${callee.endpoint.port('udp')};transport=udp`) as SipUri
  const call = await caller.dial({ uri, from: CALLER, security: 'rtp-only', plan: SILENT_CALL })
  call.leg.onEvent(({ type }) => {
    if (type === 'answered') call.leg.hangUp()
  })
  expect(await call.report).toMatchObject({ end: { confirmed: true } })
  expect(await callee.endpoint.userAgent.bye(dialog!)).toMatchObject({ confirmed: true, status: 481 })
})
