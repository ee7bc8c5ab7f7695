const LOOPBACK = new Set(['localhost', '127.0.0.1', '[::1]'])

/** Whether the URL names this machine. */
export function isLoopback(url: URL): boolean {
  return LOOPBACK.has(url.hostname)
}

/**
 * Whether a page of this origin is one of this server, which others reach at `baseUrl`. On loopback its names count as one, with
 * the same port. The Host header is no evidence: after DNS rebinding, a foreign page sends its own host name in Host and Origin.
 */
export function isOwnOrigin(origin: string, baseUrl: string): boolean {
  if (!URL.canParse(baseUrl) || !URL.canParse(origin)) return false
  const own = new URL(baseUrl)
  if (origin === own.origin) return true
  const sender = new URL(origin)
  return isLoopback(own) && isLoopback(sender) && own.port === sender.port && own.protocol === sender.protocol
}
