import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { SMTPServer, type SMTPServerOptions } from 'smtp-server'
import { afterEach, describe, expect, it } from 'vitest'
import { smtpSender } from './smtp.ts'

const MAIL = {
  to: 'ada@example.com',
  subject: 'Invitation to "Café"',
  text: 'Open this link:\nhttps://a.example/#token=x\n',
}

interface Received {
  readonly from: string | undefined
  readonly to: readonly string[]
  readonly user: string | undefined
  readonly text: string
}

const opened: SMTPServer[] = []
afterEach(async () => {
  for (const server of opened.splice(0)) await new Promise<void>(resolve => server.close(resolve))
})

/** An SMTP server that keeps what it receives. */
async function smtpServer(options: SMTPServerOptions = {}) {
  const received: Received[] = []
  const server = new SMTPServer({
    authOptional: true,
    allowInsecureAuth: true,
    disabledCommands: ['STARTTLS'],
    onAuth: ({ username, password }, _, done) =>
      password === 'p w' ? done(null, { user: username }) : done(new Error('wrong password')),
    onData: (stream, { envelope, user }, done) => {
      const chunks: Buffer[] = []
      stream.on('data', chunk => chunks.push(chunk))
      stream.on('end', () => {
        const from = envelope.mailFrom === false ? undefined : envelope.mailFrom.address
        const to = envelope.rcptTo.map(({ address }) => address)
        received.push({ from, to, user: user as string | undefined, text: Buffer.concat(chunks).toString('utf8') })
        done()
      })
    },
    ...options,
  })
  server.on('error', () => {})
  opened.push(server)
  const listening = server.listen(0, '127.0.0.1')
  await once(listening, 'listening')
  return { received, port: (listening.address() as AddressInfo).port }
}

describe('e-mail over SMTP', () => {
  it('e-mail over SMTP goes from the address of the URL to its person, with its text unchanged', async () => {
    const { received, port } = await smtpServer()
    await smtpSender(`smtp://127.0.0.1:${port}?from=parley%40example.com`)(MAIL)
    expect(received).toMatchObject([{ from: 'parley@example.com', to: ['ada@example.com'] }])
    expect(received[0]!.text).toContain('https://a.example/#token=')
    expect(received[0]!.text).toMatch(/^Subject: =\?UTF-8/m)
  })

  it('the SMTP client logs in with the user and the password of the URL', async () => {
    const { received, port } = await smtpServer({ authOptional: false })
    await smtpSender(`smtp://mailer:p%20w@localhost:${port}`)(MAIL)
    expect(received).toMatchObject([{ user: 'mailer' }])
    await expect(smtpSender(`smtp://mailer:wrong@localhost:${port}`)(MAIL)).rejects.toThrow()
    expect(received).toHaveLength(1)
  })

  it('e-mail over SMTP is not sent with a password to a server on another machine that offers no TLS', async () => {
    const { received, port } = await smtpServer()
    // 127.0.0.2 is this machine, but not by one of its names.
    await expect(smtpSender(`smtp://mailer:p%20w@127.0.0.2:${port}`)(MAIL)).rejects.toThrow()
    expect(received).toEqual([])
  })

  it('e-mail over SMTP is rejected when the server refuses the recipient or is out of reach', async () => {
    const { port } = await smtpServer({ onRcptTo: (_, __, done) => done(new Error('no such user')) })
    await expect(smtpSender(`smtp://127.0.0.1:${port}`)(MAIL)).rejects.toThrow()
    await expect(smtpSender('smtp://127.0.0.1:1')(MAIL)).rejects.toThrow()
  })
})
