import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { systemRandom, systemTime } from '@parley/kernel'
import { SocketTransport, SystemResolver, UserAgent } from '@parley/sip'
import { isDialogSnapshot, isInviteAttempt } from '@parley/sip/testing'
import { describe, expect, it } from 'vitest'
import { type BaresipCallee, startBaresipCallee } from './baresip.ts'
import type { AtTestEnd } from './clean-up.ts'
import { interopCertificates } from './recipe.ts'
import { BARESIP_PROGRAMS, requires } from './skip.ts'

const peer = requires(BARESIP_PROGRAMS)

const WAYS = ['udp', 'tls'] as const

/** What a caller in its own process reports up to the first line with `field`; then it is killed by SIGKILL. */
async function killedWith(
  field: string,
  callee: BaresipCallee,
  atTestEnd: AtTestEnd,
  fate = '',
): Promise<Record<string, unknown>> {
  const security = callee.uri.includes('transport=tls') ? 'srtp-required' : 'rtp-only'
  const child = spawn(process.execPath, [join(import.meta.dirname, 'killed-caller.ts'), callee.uri, security, fate], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const gone = once(child, 'exit')
  atTestEnd(async () => {
    child.kill('SIGKILL')
    await gone
  })
  const facts: Record<string, unknown> = {}
  for await (const line of createInterface({ input: child.stdout })) {
    Object.assign(facts, JSON.parse(line))
    if (facts[field] !== undefined) child.kill('SIGKILL')
  }
  await gone
  return facts
}

/** A second user agent, which has only the data that the killed process stored. */
async function reaper(atTestEnd: AtTestEnd): Promise<UserAgent> {
  const files = await interopCertificates()
  const [time, random] = [systemTime, systemRandom]
  const transport = await SocketTransport.open({
    udpPort: 0,
    tls: {
      cert: readFileSync(files.engine.cert, 'utf8'),
      key: readFileSync(files.engine.key, 'utf8'),
      ca: readFileSync(files.ca, 'utf8'),
    },
    resolver: new SystemResolver({ time }),
    time,
    random,
  })
  atTestEnd(() => transport.close())
  return new UserAgent({ time, random, transport, guard: () => ({ action: 'drop' }), onInvite: () => {} })
}

describe.skipIf(peer.missing)(`an engine that is killed in a call to baresip${peer.note}`, () => {
  it.for(WAYS)(
    'an engine that is killed while baresip rings, over %s: another process ends the ringing with CANCEL',
    async (way, context) => {
      const encryption = way === 'tls' ? 'srtp-mand' : ''
      const callee = await startBaresipCallee({
        ringSeconds: 20,
        waitSeconds: 20,
        mediaEncryption: encryption,
        atTestEnd: context.onTestFinished,
      })
      const { attempt } = await killedWith('state', callee, context.onTestFinished)
      expect(isInviteAttempt(attempt)).toBe(true)
      if (!isInviteAttempt(attempt)) return
      const other = await reaper(context.onTestFinished)
      // Another branch is another INVITE: the far end has to find it by what was stored.
      expect(await other.cancel({ ...attempt, branch: `${attempt.branch}x` })).toMatchObject({
        confirmed: true,
        status: 481,
      })
      expect(await other.cancel(attempt)).toMatchObject({ confirmed: true, status: 200 })
      const result = await callee.finished
      expect(result.events.map(event => event.type)).toContain('CALL_CLOSED')
      expect(result.log).not.toContain('SIP/2.0 200 Answering')
    },
  )

  it.for(WAYS)(
    'an engine that is killed after the first audio, over %s: another process ends the call with BYE',
    async (way, context) => {
      const encryption = way === 'tls' ? 'srtp-mand' : ''
      const callee = await startBaresipCallee({
        callSeconds: 30,
        waitSeconds: 20,
        mediaEncryption: encryption,
        atTestEnd: context.onTestFinished,
      })
      const { dialog } = await killedWith('audible', callee, context.onTestFinished)
      const log = await endedBy(dialog, callee, context.onTestFinished)
      expect(log).toMatch(/^ACK sip:/m)
    },
  )

  it.for(WAYS)(
    'an engine that is killed between the 200 and its ACK, over %s: another process ends the call with BYE',
    async (way, context) => {
      const encryption = way === 'tls' ? 'srtp-mand' : ''
      const callee = await startBaresipCallee({
        callSeconds: 30,
        waitSeconds: 20,
        mediaEncryption: encryption,
        atTestEnd: context.onTestFinished,
      })
      const { dialog } = await killedWith('dialog', callee, context.onTestFinished, 'unacknowledged')
      const log = await endedBy(dialog, callee, context.onTestFinished)
      expect(log).toMatch(/^BYE sip:/m)
      expect(log).not.toMatch(/^ACK sip:/m)
    },
  )
})

/** Ends the call from another process with the stored `dialog` alone; returns baresip's log. */
async function endedBy(dialog: unknown, callee: BaresipCallee, atTestEnd: AtTestEnd): Promise<string> {
  if (!isDialogSnapshot(dialog)) throw new TypeError('the killed caller reported no dialog')
  const other = await reaper(atTestEnd)
  expect(await other.bye(dialog)).toMatchObject({ confirmed: true, status: 200 })
  const { events, log } = await callee.finished
  expect(events.map(event => event.type)).toContain('CALL_CLOSED')
  expect(log).toContain(`CSeq: ${dialog.localSequence + 1000} BYE`)
  return log
}
