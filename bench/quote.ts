/**
 * `node bench/quote.ts [bench/results/<run>.json]`: lets the README say what a run found, the newest if none is named. A
 * test compares them.
 */
import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { quote, resultToQuote } from './report/speed.ts'

const README = new URL('../README.md', import.meta.url)
const page = readFileSync(README, 'utf8')
const newest = resultToQuote(readdirSync(new URL('./results/', import.meta.url)))
const file = process.argv[2] ?? `bench/results/${newest}`
writeFileSync(README, quote(page, file, JSON.parse(readFileSync(new URL(`../${file}`, import.meta.url), 'utf8'))))
