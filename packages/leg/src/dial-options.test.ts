import { parseIpNetwork } from '@parley/sip'
import { expect, it } from 'vitest'
import type { LegContext } from './connect.ts'
import { VirtualLine } from './virtual-line.ts'

it("a dialled call gives the user agent the trunk's credentials and the networks that may have them", async () => {
  const line = new VirtualLine()
  const { userAgent } = line.a.context
  const calls: Parameters<typeof userAgent.invite>[0][] = []
  const invite: typeof userAgent.invite = call => {
    calls.push(call)
    return userAgent.invite(call)
  }
  line.a.context = { ...line.a.context, userAgent: { invite } as LegContext['userAgent'] }
  const credentials = { username: 'trunk', password: 'secret', realms: ['carrier'] }
  const sources = [parseIpNetwork('198.51.100.0/24')!]
  await line.dial({ credentials, sources })
  expect(calls).toMatchObject([{ credentials, sources }])
})
