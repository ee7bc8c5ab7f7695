import { pino } from 'pino'
import { describe, expect, it } from 'vitest'
import { linkDelivery, type SendMail } from './link-delivery.ts'

const LINK = {
  kind: 'invitation',
  email: 'ada@example.com',
  organisation: 'Clinic',
  url: 'https://parley.example/auth/link#token=secret',
  expires_at: '2026-01-08T00:00:00.000Z',
} as const

function delivery(sendMail: SendMail | null) {
  const lines: string[] = []
  const log = pino({ level: 'trace' }, { write: line => void lines.push(line) })
  const pauses: number[] = []
  const links = linkDelivery({ sendMail, log, wait: async ms => void pauses.push(ms) })
  return { links, pauses, logged: () => lines.join('') }
}

describe('a link to a person', () => {
  it('a link to a person is written to the log where there is no e-mail server', () => {
    const { links, logged } = delivery(null)
    links.deliver(LINK)
    expect(links.areMailed).toBe(false)
    expect(logged()).toContain(LINK.url)
  })

  it('a link to a person is in an e-mail, and not in the log, where there is one', async () => {
    const sent: Parameters<SendMail>[0][] = []
    const { links, logged } = delivery(async mail => void sent.push(mail))
    links.deliver(LINK)
    await expect.poll(() => sent.length).toBe(1)
    expect(links.areMailed).toBe(true)
    expect(sent[0]).toMatchObject({ to: 'ada@example.com', subject: 'Invitation to Clinic on Parley' })
    expect(sent[0]!.text).toContain(LINK.url)
    expect(logged()).toBe('')
  })

  it('a link to a person is sent again when the server fails, four times in all, and the log then names the address but not the link', async () => {
    let tries = 0
    const { links, pauses, logged } = delivery(async () => {
      tries += 1
      throw new Error('out of reach')
    })
    links.deliver({ ...LINK, kind: 'login' })
    await expect.poll(logged).toContain('a link was not sent')
    expect(tries).toBe(4)
    expect(pauses).toEqual([1000, 10_000, 60_000])
    expect(logged()).toContain('ada@example.com')
    expect(logged()).not.toContain('secret')
  })
})
