/** The `code` of a send or flow that ended with a socket error before it was established. */
export function connectErrorCode(error: unknown): string {
  switch (errorCode(error)) {
    case 'ECONNREFUSED':
      return 'refused'
    case 'ETIMEDOUT':
      return 'timeout'
    case 'EHOSTUNREACH':
    case 'ENETUNREACH':
    case 'EADDRNOTAVAIL':
    case 'EINVAL':
    case 'EAFNOSUPPORT':
      return 'unreachable'
    case 'EMFILE':
    case 'ENFILE':
      return 'too_many_connections'
    case 'ECONNRESET':
      return 'reset'
    default:
      return 'connect_failed'
  }
}

/** Why an established connection ended. */
export function streamErrorCode(error: unknown): string {
  switch (errorCode(error)) {
    case 'ECONNRESET':
    case 'EPIPE':
      return 'reset'
    case 'ETIMEDOUT':
      return 'timeout'
    case 'EHOSTUNREACH':
    case 'ENETUNREACH':
      return 'unreachable'
    default:
      return errorCode(error).startsWith('ERR_SSL') ? 'tls_failed' : 'closed'
  }
}

export function errorCode(error: unknown): string {
  const code = error instanceof Error ? (error as NodeJS.ErrnoException).code : undefined
  return typeof code === 'string' ? code : ''
}

export function errorText(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}
