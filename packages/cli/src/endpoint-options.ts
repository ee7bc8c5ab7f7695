import { isPermitted } from '@parley/egress'
import type { EngineOptions } from '@parley/engine'
import type { Settings } from './environment.ts'
import type { ProcessIdentity } from './identity.ts'
import { overridesOf } from './resolve-entries.ts'

/** Sockets, certificate and addresses of SIP and RTP, as the settings say. */
export function endpointOptions(settings: Settings, identity: ProcessIdentity): EngineOptions['endpoint'] {
  return {
    bind: settings.sipBind,
    udpPort: settings.sipPort,
    tcpPort: settings.sipPort,
    tlsPort: settings.sipTlsPort,
    ...(settings.sipHost !== null && { advertisedHost: settings.sipHost }),
    tls: identity.tls,
    overrides: overridesOf(settings.resolve),
    permits: (host, address, port) => isPermitted(host, address, port, settings.egressAllow),
    rtp: {
      bind: settings.rtpBind,
      announcedAddress: settings.mediaAddress,
      localNetworks: settings.localNetworks,
      ports: settings.rtpPorts,
      packetIo: settings.packetIo,
    },
    userAgentName: 'Parley',
    log: (level, event, detail) => {
      if (level !== 'debug') process.stderr.write(`${level} ${event} ${JSON.stringify(detail)}\n`)
    },
  }
}
