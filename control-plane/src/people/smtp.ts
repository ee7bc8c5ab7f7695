import type { SendMail } from './link-delivery.ts'

const CONNECT_WITHIN_MS = 10_000
const SILENT_MS = 30_000
const LOOPBACK = new Set(['localhost', '127.0.0.1', '[::1]'])

/** The sender of e-mails where the URL of the server has no parameter `from`. */
const DEFAULT_SENDER = 'parley@localhost'

/**
 * Sends e-mail by the SMTP server at `smtpUrl`: `smtp://user:password@host:587?from=parley%40example.com`, or `smtps:`. A
 * password is sent over TLS only, except to this machine.
 */
export function smtpSender(smtpUrl: string): SendMail {
  const url = new URL(smtpUrl)
  const from = url.searchParams.get('from') ?? DEFAULT_SENDER
  url.searchParams.delete('from')
  const isSecure = url.protocol === 'smtps:'
  const auth =
    url.username === '' ? null : { user: decodeURIComponent(url.username), pass: decodeURIComponent(url.password) }
  const options = {
    host: url.hostname.replace(/^\[|\]$/g, ''),
    port: Number(url.port || (isSecure ? 465 : 587)),
    secure: isSecure,
    requireTLS: auth !== null && !isSecure && !LOOPBACK.has(url.hostname),
    connectionTimeout: CONNECT_WITHIN_MS,
    greetingTimeout: CONNECT_WITHIN_MS,
    socketTimeout: SILENT_MS,
    ...(auth !== null && { auth }),
  }
  return async ({ to, subject, text }) => {
    // Most processes send no e-mail: the client is loaded with the first one.
    const { createTransport } = await import('nodemailer')
    const transport = createTransport(options)
    try {
      await transport.sendMail({ from, to, subject, text, disableFileAccess: true, disableUrlAccess: true })
    } finally {
      transport.close()
    }
  }
}
