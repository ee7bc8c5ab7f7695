import { freePeerPorts, rtpRange } from '../../../interop/ports.ts'
import { RolesProcess } from './roles-process.ts'

export interface ProcessOptions {
  /** Path of the program that the processes run, such as that of another version; default this checkout's `parley`. */
  readonly program?: string
  /** RTP ports of the only engine; default, of each engine: room for 50 calls. */
  readonly rtpPorts?: string
}

/** A process with an engine. */
export interface HarnessEngine {
  readonly process: RolesProcess
  /** Port of SIP over TLS; UDP and TCP have the port below. No other process uses them. */
  readonly tlsPort: number
}

/** Prepares one process for each element of `roles`, without starting it. */
export async function processesOf(
  roles: readonly string[],
  environment: Readonly<Record<string, string>>,
  options: ProcessOptions,
) {
  const processes: RolesProcess[] = []
  const engines: HarnessEngine[] = []
  for (const ofProcess of roles) {
    const { process, tlsPort } = await processOf(ofProcess, environment, options)
    processes.push(process)
    if (tlsPort !== null) engines.push({ process, tlsPort })
  }
  return { processes, engines }
}

/** A process; one with an engine gets ports of its own. `tlsPort` is null if it has no engine. */
export async function processOf(
  roles: string,
  environment: Readonly<Record<string, string>>,
  { program, rtpPorts }: ProcessOptions = {},
): Promise<{ readonly process: RolesProcess; readonly tlsPort: number | null }> {
  if (!roles.split(',').includes('engine'))
    return { process: new RolesProcess(roles, environment, program), tlsPort: null }
  const ports = await freePeerPorts()
  const withPorts = {
    PARLEY_SIP_PORT: String(ports.tls - 1),
    PARLEY_SIP_TLS_PORT: String(ports.tls),
    PARLEY_RTP_PORTS: rtpPorts ?? rtpRange(ports),
    ...environment,
  }
  return { process: new RolesProcess(roles, withPorts, program), tlsPort: ports.tls }
}
