import { describe, expect, it } from 'vitest'
import { digitsReceived, runBaresipCaller, startBaresipCallee } from './baresip.ts'
import { BARESIP_PROGRAMS, requires } from './skip.ts'
import { matchSpeech } from './speech-match.ts'

const peer = requires(BARESIP_PROGRAMS)

describe.skipIf(peer.missing)(`baresip calls baresip: the test peers themselves work${peer.note}`, () => {
  it('a call over TLS and SRTP carries speech both ways and digits', async () => {
    const callee = await startBaresipCallee({ callSeconds: 30 })
    const caller = await runBaresipCaller({ target: callee.uri, callSeconds: 5, actions: ['1:sndcode 12#'] })
    const answered = await callee.finished
    expect(caller.exitCode, caller.output).toBe(0)
    expect(answered.exitCode, answered.output).toBe(0)
    expect(caller.log).toContain('SRTP is Enabled (cryptosuite=AES_CM_128_HMAC_SHA1_80)')
    expect(digitsReceived(answered)).toBe('12#')
    expect(matchSpeech(caller.microphoneWav, answered.heardWav!).score).toBeGreaterThan(0.5)
    expect(matchSpeech(answered.microphoneWav, caller.heardWav!).score).toBeGreaterThan(0.5)
    // Different speech must not match, else the comparisons above prove nothing.
    expect(matchSpeech(caller.microphoneWav, caller.heardWav!).score).toBeLessThan(0.5)
  })

  it('a call to an address without a listener is not established, and leaves no process behind', async () => {
    const caller = await runBaresipCaller({ target: 'sip:x@127.0.0.1:20998;transport=tls', answerSeconds: 5 })
    expect(caller.exitCode).toBe(1)
    expect(caller.events.map(event => event.type)).toContain('CALL_CLOSED')
  })
})
