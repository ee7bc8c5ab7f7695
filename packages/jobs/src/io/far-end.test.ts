import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { ensureLocalCertificate } from '@parley/sip'
import type { LocalCertificate } from '@parley/sip/testing'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest'
import { SOON } from '../testing/jobs-harness.ts'
import { killedInCall, openTelephone, type Telephone } from '../testing/sip-line.ts'
import { type FarEndHangUp, openSipFarEnd } from './far-end.ts'

let home: string
let tls: LocalCertificate
let farEnd: FarEndHangUp
let telephone: Telephone
const troubles: string[] = []
beforeAll(async () => {
  home = await mkdtemp(join(tmpdir(), 'parley-far-end-'))
  tls = await ensureLocalCertificate(home)
})
afterAll(() => rm(home, { recursive: true, force: true }))
beforeEach(async () => {
  farEnd = await openSipFarEnd({ tls, log: what => troubles.push(what) })
})
afterEach(async () => {
  await farEnd.close()
  await telephone.close()
})

describe('the far end of a call whose process was killed', () => {
  it.each(['udp', 'tcp', 'tls'] as const)(
    'the far end of a killed process’s call gets a BYE over a new connection (%s)',
    async transport => {
      telephone = await openTelephone(tls, true)
      const { dialog } = await killedInCall(tls, telephone.uri(transport), 'answered')
      expect(await farEnd.bye(dialog!)).toEqual({ confirmed: true, status: 200, detail: 'BYE answered 200' })
      await vi.waitFor(() => expect(telephone.ends).toMatchObject([{ cause: 'bye', by: 'remote' }]), SOON)
      // It knows the call no more: that is as good.
      expect(await farEnd.bye(dialog!)).toMatchObject({ confirmed: true, status: 481 })
    },
  )

  it.each(['udp', 'tcp', 'tls'] as const)(
    'a ringing far end of a killed process is cancelled (%s)',
    async transport => {
      telephone = await openTelephone(tls, false)
      const { dial } = await killedInCall(tls, telephone.uri(transport), 'ringing')
      expect(await farEnd.cancel(dial)).toMatchObject({ confirmed: true, status: 200 })
      await vi.waitFor(() => expect(telephone.ends).toMatchObject([{ cause: 'cancelled', by: 'remote' }]), SOON)
    },
  )

  it('a far end that is gone confirms no BYE', async () => {
    telephone = await openTelephone(tls, true)
    const { dialog } = await killedInCall(tls, telephone.uri('tcp'), 'answered')
    await telephone.close()
    expect(await farEnd.bye(dialog!)).toMatchObject({ confirmed: false, status: null })
  })

  it('unreadable dialog facts give no far end and no error', async () => {
    telephone = await openTelephone(tls, true)
    for (const nonsense of [{}, { callId: 1 }, { routeSet: 'x' }, { requestUri: 'sip:x', nextHop: null }]) {
      expect(await farEnd.bye(nonsense)).toMatchObject({ confirmed: false, status: null })
      expect(await farEnd.cancel(nonsense)).toMatchObject({ confirmed: false, status: null })
    }
    expect(troubles).toEqual([])
  })
})
