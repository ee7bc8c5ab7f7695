import type { PingOutcome, Target } from '@parley/sip'
import { type Finding, ok, problem } from './finding.ts'

/** Findings about one server of a trunk from its answer to OPTIONS. `wasSent`: the request left, so that the connection was open. */
export function explainServer(target: Target, outcome: PingOutcome, wasSent: boolean): readonly Finding[] {
  const where = nameOf(target)
  if (outcome.type === 'answered') return [connected(target), explainAnswer(where, outcome)]
  return wasSent ? [connected(target), noResponse(target)] : [explainConnection(target, outcome)]
}

function nameOf({ transport, address, port }: Target): string {
  return `${address}:${port} (${transport.toUpperCase()})`
}

function connected(target: Target): Finding {
  const where = nameOf(target)
  if (target.transport === 'udp') return ok('connection', `${where}: UDP needs no connection.`)
  const proof = target.transport === 'tls' ? ` Its certificate proves ${target.serverName}.` : ''
  return ok('connection', `${where}: the connection is open.${proof}`)
}

function explainAnswer(
  where: string,
  { status, reason, afterMs }: Extract<PingOutcome, { type: 'answered' }>,
): Finding {
  const answer = `${where}: OPTIONS was answered ${status} ${reason} after ${Math.round(afterMs)} ms.`
  if (status >= 500 && status !== 501)
    return problem(
      'options',
      'server_unavailable',
      `${answer} The server takes no calls now.`,
      'Try again later. If it lasts, ask the carrier whether the trunk is active and whether your address is enabled.',
    )
  if (status === 401 || status === 407)
    return ok('options', `${answer} It wants credentials for OPTIONS, which Parley does not send there: no fault.`)
  return ok('options', status < 300 ? answer : `${answer} The server is alive; many refuse OPTIONS.`)
}

function noResponse(target: Target): Finding {
  const where = nameOf(target)
  return target.transport === 'udp'
    ? problem(
        'options',
        'no_response',
        `${where}: OPTIONS got no response.`,
        'Open UDP in both directions in the firewall, and ask the carrier whether it lists your public address. Or the carrier wants another transport: set --transport tcp or tls.',
      )
    : problem(
        'options',
        'no_response',
        `${where}: the connection is open, and OPTIONS got no response.`,
        'Ask the carrier whether it lists your public address: many do not answer addresses that they do not know. Check that the port serves SIP.',
      )
}

/** The connection did not open. */
function explainConnection(target: Target, { code, detail }: Extract<PingOutcome, { type: 'failed' }>): Finding {
  const where = nameOf(target)
  const { serverName: name, transport, port } = target
  switch (code) {
    case 'refused':
      return problem(
        'connection',
        'connection_refused',
        `${where}: nothing listens there.`,
        `Check --port and --transport of the trunk: is it ${transport.toUpperCase()} on port ${port}?`,
      )
    case 'tls_identity':
      return problem(
        'connection',
        'certificate_name',
        `${where}: the certificate does not name ${name} (${detail}).`,
        'Set termination_uri to a host name that is in the certificate, or ask the carrier for one. An address is proved only by a certificate that names the address.',
      )
    case 'tls_failed':
      return explainHandshake(where, detail)
    default:
      return problem(
        'connection',
        'connection_failed',
        `${where}: no connection (${code}: ${detail}).`,
        `Open outgoing ${transport.toUpperCase()} to port ${port} in the firewall, and ask the carrier whether your address may connect.`,
      )
  }
}

/** `detail` is OpenSSL's text. */
function explainHandshake(where: string, detail: string): Finding {
  if (/expired|not yet valid/i.test(detail))
    return problem(
      'connection',
      'certificate_date',
      `${where}: the certificate is out of date (${detail}).`,
      'The carrier has to renew its certificate. Check the clock of this machine too: a wrong one makes every certificate look out of date.',
    )
  if (/self[- ]signed|unable to (get|verify)|local issuer/i.test(detail))
    return problem(
      'connection',
      'certificate_untrusted',
      `${where}: no known authority has signed the certificate (${detail}).`,
      'Public authorities are trusted only with PARLEY_TLS_CERT and PARLEY_TLS_KEY. Trust another authority by PARLEY_TLS_CA, or for this host alone by PARLEY_RESOLVE. If an intermediate certificate is missing, the carrier has to add it.',
    )
  return problem(
    'connection',
    'tls_failed',
    `${where}: the TLS handshake failed (${detail}).`,
    'Check that the port speaks TLS (--port, --transport). The carrier may take other versions of TLS than 1.2 and 1.3, or demand a client certificate.',
  )
}
