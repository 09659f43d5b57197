/**
 * Topics and patterns of them: words with dots in between. `*` stands for one word, `>` at the end for one or more: `job.chat.*`
 * is `job.chat.simple` and not `job.chat`, `job.>` is both. A pattern without either is a topic.
 */
import { isPlainText, PLAIN_RULE } from '../core/name.ts'

/** Which of some things are for a topic: by the pattern each was put under, without asking the others. */
export class TopicIndex<Thing> {
  readonly #root: Node<Thing> = node()

  add(pattern: string, thing: Thing): void {
    let here = this.#root
    for (const word of pattern.split('.')) {
      if (word === '>') {
        here.below.push(thing)
        return
      }
      const next = here.words.get(word) ?? node<Thing>()
      here.words.set(word, next)
      here = next
    }
    here.things.push(thing)
  }

  /** In no order; a thing that was put under several patterns may be there as often. */
  find(topic: string): readonly Thing[] {
    const found: Thing[] = []
    collect(this.#root, topic.split('.'), 0, found)
    return found
  }
}

interface Node<Thing> {
  readonly words: Map<string, Node<Thing>>
  readonly things: Thing[]
  /** Under `>`. */
  readonly below: Thing[]
}

const node = <Thing>(): Node<Thing> => ({ words: new Map(), things: [], below: [] })

function collect<Thing>(here: Node<Thing>, words: readonly string[], at: number, found: Thing[]): void {
  const word = words[at]
  if (word === undefined) {
    found.push(...here.things)
    return
  }
  found.push(...here.below)
  const own = here.words.get(word)
  if (own !== undefined) collect(own, words, at + 1, found)
  const any = word === '*' ? undefined : here.words.get('*')
  if (any !== undefined) collect(any, words, at + 1, found)
}

/** What keeps a text from being a pattern; undefined where nothing does. */
export function patternRule(pattern: string): string | undefined {
  if (!isPlainText(pattern)) return PLAIN_RULE
  const words = pattern.split('.')
  if (words.length > WORDS_MOST) return `must have at most ${WORDS_MOST} words`
  if (words.includes('')) return 'must have a word before and after each dot'
  if (words.slice(0, -1).includes('>')) return 'must have > at its end, if anywhere'
  return words.some((word) => word.length > 1 && /[*>]/.test(word))
    ? 'must have * and > as words of their own'
    : undefined
}

/** At each word a topic may go two ways: its own, and that of `*`. */
const WORDS_MOST = 12
