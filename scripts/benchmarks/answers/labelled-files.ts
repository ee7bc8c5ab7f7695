import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { AnswerClass } from '@parley/dialogue'
import { readWav, resample } from '@parley/media'
import { CALLS_OF } from './manifest.ts'

const RATE = 8000

interface LabelledFile {
  readonly file: string
  readonly class: AnswerClass
  readonly samples: Int16Array
}

/**
 * WAV files of a folder with their classes, from its `labels.csv` (`file,class`, with or without that header). Audio begins at the
 * answer. Throws if a line cannot be read or names an unknown class.
 */
export function labelledFiles(directory: string): LabelledFile[] {
  const rows = readFileSync(join(directory, 'labels.csv'), 'utf8').split(/\r?\n/)
  return rows.flatMap((row, i) => {
    const [file = '', name = ''] = row.split(',').map(cell => cell.trim().replace(/^"|"$/g, ''))
    if (file === '' || (i === 0 && file === 'file')) return []
    if (!Object.hasOwn(CALLS_OF, name))
      throw new Error(
        `labels.csv, line ${i + 1}: "${name}" is no class; the classes are ${Object.keys(CALLS_OF).join(', ')}`,
      )
    const { channels, sampleRate } = readWav(readFileSync(join(directory, file)))
    const [first] = channels
    if (first === undefined) throw new Error(`labels.csv, line ${i + 1}: ${file} has no audio`)
    return [
      { file, class: name as AnswerClass, samples: sampleRate === RATE ? first : resample(first, sampleRate, RATE) },
    ]
  })
}
