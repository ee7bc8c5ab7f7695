// Writes the tables of carriers' scenarios into docs/interop.md.
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { repositoryRoot } from '../../repository.ts'
import { withMatrix } from './matrix.ts'

const page = join(repositoryRoot, 'docs/interop.md')
writeFileSync(page, withMatrix(readFileSync(page, 'utf8')))
