/** What could be wrong with the protocol between Redis and its ledger. */
import { type Change, harmless, type Mutant, ofLedger } from './mutant.ts'

const NO_INCARNATION: Change = ['meta.ts', ' && meta.incarnation === incarnation', '']
const NO_TOKEN: readonly Change[] = [
  ['meta.ts', ' && meta.joining === epoch && ', ' && '],
  ['meta.ts', 'meta?.joining === epoch', 'meta !== undefined'],
  ['meta.ts', 'epoch > (meta?.joining ?? 0)', 'true'],
]
/** The shipper takes what is there, and the ledger looks at the entries. */
const NO_CHAIN: readonly Change[] = [
  ['shipment.ts', 'const rest = entriesAfter(account.head, entries)', 'const rest = entries'],
  ['account.ts', '{ epoch, after }: Append', '{ epoch, entries }: Append'],
]
const THE_CHAIN = 'isSameHead(account.head, after)'
const THE_FITTING = "fitted.by === 'load' ? pages === fitted.pages : isSameHead(meta.head, account.head)"

export const LEDGER: readonly Mutant[] = [
  ofLedger('head-by-number', 'ledger', ['entry.ts', 'a.seq === b.seq && a.name === b.name', 'a.seq === b.seq']),
  ofLedger('answer-by-number', 'ledger', ['fate.ts', 'nameAt(seq) === name', 'seq <= account.head.seq']),
  ofLedger('nothing-while-its-epoch-lasts', 'ledger', ['fate.ts', 'account.epoch <= epoch', 'false']),
  ofLedger('nothing-where-nobody-knows', 'ledger-walks', ['fate.ts', 'looked.seq + 1 < account.keptFrom', 'false']),
  ofLedger('lost-call-not-decided', 'ledger-walks', ['join.ts', ' && account.epoch > lost', '']),
  ofLedger('reads-without-barrier', 'ledger', ['fate.ts', 'const fate = fateOf(seen, ledger)', "const fate = 'there'"]),
  ofLedger('reads-of-what-was', 'ledger', ['fate.ts', ' && seen.seq >= seen.looked.seq', '']),
  ofLedger(
    'join-without-a-new-epoch',
    'ledger-walks',
    ['account.ts', 'epoch: account.epoch + 1', 'epoch: account.epoch'],
    ['meta.ts', 'epoch > (meta?.joining ?? 0)', 'true'],
  ),
  ofLedger('any-epoch-appended', 'ledger-walks', ['account.ts', `account.epoch === epoch && ${THE_CHAIN}`, THE_CHAIN]),
  ofLedger('any-epoch-shipped', 'ledger', [
    'shipment.ts',
    "if (meta.epoch < account.epoch) return { kind: 'misfit', why: 'fenced' }",
    '',
  ]),
  ofLedger('each-revision-once-instead-of-the-chain', 'ledger', ...NO_CHAIN, [
    'account.ts',
    THE_CHAIN,
    'entries.every(({ job, rec }) => !account.log.some((e) => e.job === job && e.rec.rev === rec.rev))',
  ]),
  ofLedger('revisions-instead-of-the-chain', 'ledger', ...NO_CHAIN, [
    'account.ts',
    THE_CHAIN,
    'account.log.filter(({ job }) => job === entries[0].job).length + 1 === entries[0].rec.rev',
  ]),
  ofLedger('restore-without-its-seq', 'ledger', ['eviction.ts', 'meta.evicted <= folded', 'true']),
  ofLedger('load-forgets-what-it-left-out', 'ledger-walks', [
    'meta.ts',
    "evicted: by === 'load' ? account.head.seq : meta.evicted",
    'evicted: meta.evicted',
  ]),
  ofLedger('open-without-a-look', 'ledger', ['meta.ts', THE_FITTING, "fitted.by !== 'load' || pages === fitted.pages"]),
  ofLedger(
    'pages-not-counted',
    'ledger',
    ['meta.ts', THE_FITTING, "fitted.by === 'load' || isSameHead(meta.head, account.head)"],
    ['meta.ts', 'isJoining(meta, epoch) && pages === page', 'isJoining(meta, epoch)'],
  ),
  ofLedger('replay-of-anything', 'ledger', ['meta.ts', ' && isNext(meta.head, entry)', '']),
  ofLedger(
    'fork-taken-for-lag',
    'ledger-walks',
    ['join.ts', 'meta.copy === 0 || missing === undefined', 'meta.copy === 0'],
    ['join.ts', 'return replaying(account, missing)', 'return replaying(account, missing ?? [])'],
  ),
  ofLedger('clock-of-the-server', 'ledger-walks', ['meta.ts', 'Math.max(serverMs, meta.at)', 'serverMs']),
  ofLedger('clock-forgotten-by-a-join', 'ledger-walks', [
    'meta.ts',
    'at: Math.max(meta.at, account.at)',
    'at: meta.at',
  ]),
  ofLedger('load-that-leaves-the-head', 'ledger-walks', ['meta.ts', 'page === 0 ?', 'false ?']),
  ofLedger('load-of-what-is-not-folded', 'ledger', ['join.ts', ' && read.folded >= account.head.seq', '']),
  ofLedger('fold-from-anywhere', 'ledger', ['fold.ts', '): boolean => folded === from', '): boolean => true']),
  ofLedger('fold-ahead-of-itself', 'ledger', [
    'fold.ts',
    'entries.at(-1)?.seq ?? account.folded',
    'account.head.seq + 1',
  ]),
  harmless('without-incarnations', 'ledger-walks', NO_INCARNATION),
  harmless('without-the-token', 'ledger-walks', ...NO_TOKEN),
  harmless('without-incarnations-and-token', 'ledger-walks', ...NO_TOKEN, NO_INCARNATION),
  // An eviction is an entry: where the tables have it, they have what left.
  harmless('eviction-of-what-is-not-folded', 'ledger-walks', ['eviction.ts', 'changed <= folded', 'true']),
  // What comes of it is behind the ledger, so nothing of it is told, and catching up writes over it.
  harmless('load-of-another-moment', 'ledger-walks', ['join.ts', 'read.epoch === account.epoch && ', '']),
]
