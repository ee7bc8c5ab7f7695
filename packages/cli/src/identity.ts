import { readFile } from 'node:fs/promises'
import { ensureLocalCertificate, type TlsIdentity } from '@parley/leg'
import type { Settings } from './environment.ts'

export interface ProcessIdentity {
  readonly tls: TlsIdentity
  /** The file with the authority that others need in order to trust this process; null: a public one. */
  readonly authorityFile: string | null
}

/** This process's certificate and whom it trusts: the configured files, or a local authority that is made on first use. */
export async function processIdentity(settings: Settings): Promise<ProcessIdentity> {
  const files = settings.tlsFiles
  if (files !== null) {
    const [cert, key] = await Promise.all([readFile(files.cert, 'utf8'), readFile(files.key, 'utf8')])
    const ca = files.ca === null ? '' : await readFile(files.ca, 'utf8')
    return { tls: { cert, key, ca, systemRoots: true }, authorityFile: files.ca }
  }
  const names = settings.sipDomain === 'localhost' ? ['localhost'] : ['localhost', settings.sipDomain]
  const addresses = settings.sipBind === '0.0.0.0' ? ['127.0.0.1'] : [...new Set(['127.0.0.1', settings.sipBind])]
  const { cert, key, ca, caPath } = await ensureLocalCertificate(settings.home, { names, addresses })
  return { tls: { cert, key, ca }, authorityFile: caPath }
}
