import type { ResolveOverride, ResolveOverrides, TransportName } from '@parley/sip'
import { isHostName } from '@parley/sip'

/** One entry of PARLEY_RESOLVE. */
export interface ResolveEntry extends ResolveOverride {
  /** Lower case. */
  readonly name: string
  /** Path of a PEM file with the only trusted authorities for this name; null: those of the process. */
  readonly caFile: string | null
}

const ENTRY = /^([^=]+)=(\[[0-9a-f:.]+\]|[^:;[\]]+)(?::(\d{1,5}))?(?:;(udp|tcp|tls|)(?:;(.*))?)?$/i
const MAX_ENTRIES = 1000

/**
 * `name=host:port;transport;ca`, comma separated; port, transport and ca may be left out. Several entries for one name
 * are several targets, tried in order. Returns a string with the fault if the text is invalid.
 */
export function parseResolveEntries(text: string): readonly ResolveEntry[] | string {
  const parts = text.split(',').map(part => part.trim())
  if (parts.length > MAX_ENTRIES) return `must have at most ${MAX_ENTRIES} entries`
  const entries: ResolveEntry[] = []
  for (const part of parts.filter(part => part !== '')) {
    const [, name = '', host = '', port, transport, ca = ''] = ENTRY.exec(part) ?? []
    const bare = host.replace(/^\[|\]$/g, '')
    const known = isHostName(name) && (host.startsWith('[') || isHostName(host))
    if (!known || (port !== undefined && !(Number(port) >= 1 && Number(port) <= 65_535)))
      return `"${part}" must be NAME=HOST:PORT;TRANSPORT;CA, such as trunk.example=127.0.0.1:5061;tls;/etc/ca.pem`
    entries.push({
      name: name.toLowerCase().replace(/\.$/, ''),
      host: bare,
      port: port === undefined ? undefined : Number(port),
      transport: transport ? (transport.toLowerCase() as TransportName) : undefined,
      caFile: ca === '' ? null : ca,
    })
  }
  return entries
}

export function overridesOf(entries: readonly ResolveEntry[]): ResolveOverrides {
  const overrides = new Map<string, ResolveOverride[]>()
  for (const { name, host, port, transport } of entries) {
    const others = overrides.get(name)
    if (others === undefined) overrides.set(name, [{ host, port, transport }])
    else others.push({ host, port, transport })
  }
  return overrides
}
