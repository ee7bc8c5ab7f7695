import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { ensureLocalCertificate, type TlsIdentity } from '@parley/leg'
import type { Settings } from './environment.ts'

/** This process's certificate and whom it trusts: the configured files, or a local authority that is made on first use. */
export async function tlsIdentity(settings: Settings): Promise<TlsIdentity> {
  const files = settings.tlsFiles
  if (files !== null) {
    const [cert, key] = await Promise.all([readFile(files.cert, 'utf8'), readFile(files.key, 'utf8')])
    const ca = files.ca === null ? '' : await readFile(files.ca, 'utf8')
    return { cert, key, ca, systemRoots: true }
  }
  const names = settings.sipDomain === 'localhost' ? ['localhost'] : ['localhost', settings.sipDomain]
  const addresses = settings.sipBind === '0.0.0.0' ? ['127.0.0.1'] : [...new Set(['127.0.0.1', settings.sipBind])]
  const { cert, key, ca } = await ensureLocalCertificate(join(settings.home, 'tls'), { names, addresses })
  return { cert, key, ca }
}
