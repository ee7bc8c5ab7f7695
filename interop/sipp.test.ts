import { describe, expect, it } from 'vitest'
import { startBaresipCallee } from './baresip.ts'
import { runSipp } from './sipp.ts'
import { BARESIP_PROGRAMS, requires, SIPP_PROGRAMS } from './skip.ts'

const peers = requires({ ...BARESIP_PROGRAMS, ...SIPP_PROGRAMS })

describe.skipIf(peers.missing)(`SIPp calls baresip: the test peers themselves work${peers.note}`, () => {
  it('a SIPp scenario holds, resumes and ends a call to baresip over UDP', async () => {
    const callee = await startBaresipCallee({ mediaEncryption: '', callSeconds: 30 })
    const result = await runSipp({
      scenario: 'uac-hold',
      target: `127.0.0.1:${callee.ports.tls - 1}`,
      maxSeconds: 30,
    })
    expect(result.exitCode, result.output).toBe(0)
    expect(result.messages).toContain('a=recvonly')
    expect((await callee.finished).exitCode).toBe(0)
  })
})
