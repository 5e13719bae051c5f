import type { Messages } from './en.ts';

export const de: Messages = {
  'page.title': 'Zahlung',
  'page.title_amount': '{amount} an {merchant}',
  'page.test': 'Testzahlung: Es wird kein echtes Geld bewegt',
  'page.to': 'Zahlung an {merchant}',
  'page.merchant_unknown': 'den Empfänger',
  'page.on_network': '{token} auf {network}',
  'page.language': 'Sprache',
  'token.usd': 'digitale US-Dollar',
  'token.eur': 'digitale Euro',
  'detail.recipient': 'Adresse des Empfängers',
  'detail.recipient_hint':
    'Nur zum Vergleich mit Ihrer Wallet. Was Sie von Hand dorthin senden, zählt nicht für diese Zahlung: ' +
    'Wenden Sie sich dann an {merchant}.',
  'detail.amount': 'Betrag',
  'detail.network': 'Netzwerk',
  'detail.from': 'Ihre Adresse',
  'detail.fee': 'Netzwerkgebühr, ungefähr',
  'detail.sponsored_fee': 'Netzwerkgebühr',
  'detail.sponsored_by': '{merchant} zahlt sie',
  'detail.account_rent': 'Konto des Empfängers eröffnen, einmalig',
  'detail.account_rent_hint':
    'Der Empfänger hat in diesem Netzwerk noch nie {token} erhalten. Das Netzwerk berechnet das neue Konto ' +
    'einmal.',
  'detail.payment': 'Zahlungsnummer',
  'detail.transaction': 'Transaktion',
  'detail.paid_at': 'Bezahlt',
  'detail.expires': 'Zahlbar bis',
  'detail.more': 'Einzelheiten',
  'copy.do': '{what} kopieren',
  'copy.done': 'Kopiert',
  'ways.title': 'Wie möchten Sie bezahlen?',
  'ways.wallets': 'Wallets in diesem Browser',
  'ways.sponsored': '{merchant} zahlt die Netzwerkgebühr, mit Wallets, die das erlauben.',
  'ways.none': 'In diesem Browser wurde keine Wallet gefunden.',
  'ways.none_hint':
    'Öffnen Sie diese Seite dort, wo Ihre Wallet ist: in der Wallet-App Ihres Telefons oder in einem Browser mit ' +
    'Wallet-Erweiterung.',
  'ways.apps': 'In einer Wallet-App öffnen',
  'ways.transfer': 'Von einer Börse oder aus jeder Wallet',
  'ways.copy_link': 'Den ganzen Link kopieren',
  'ways.qr': 'Mit dem Telefon scannen',
  'ways.change': 'Anders bezahlen',
  'ways.embedded': 'Weiter zur Zahlung',
  'ways.embedded_hint': 'Die Zahlung öffnet sich auf einer eigenen Seite, deren Adresse Sie sehen können.',
  'offers.begun': 'So haben Sie schon zu bezahlen begonnen.',
  'offers.unknown': 'Diese Seite kann dieses Netzwerk nicht prüfen, deshalb können Sie hier nicht so bezahlen.',
  'qr.solana_request':
    'Scannen Sie den Code mit einer Solana-Wallet wie Phantom oder Solflare. Sie zeigt Ihnen die Zahlung, bevor ' +
    'etwas gesendet wird.',
  'qr.solana_transfer': 'Für Wallets, die den ersten Code nicht lesen können. Ändern Sie weder Betrag noch Memo.',
  'qr.tempo': 'Für Wallets, die Tempo kennen. Prüfen Sie, ob der Betrag stimmt und das Memo ausgefüllt ist.',
  'qr.page': 'Scannen Sie den Code mit der Kamera Ihres Telefons, um diese Seite dort zu öffnen.',
  'qr.transfer': 'Für Wallets von Solana. Prüfen Sie, ob Ihre genau diesen Betrag anzeigt.',
  'qr.address': 'Nur die Adresse. Geben Sie Token, Netzwerk und Betrag selbst ein, so wie sie hier stehen.',
  'qr.tab.solana_request': 'Solana Pay',
  'qr.tab.solana_transfer': 'Einfache Überweisung',
  'qr.tab.tempo': 'Tempo',
  'qr.tab.page': 'Diese Seite',
  'qr.tab.transfer': 'Mit Betrag',
  'qr.tab.address': 'Nur Adresse',
  'qr.alt': 'QR-Code',
  'transfer.not_ethereum': '{network}, nicht Ethereum',
  'transfer.token': 'Token',
  'transfer.amount': 'Genauer Betrag',
  'transfer.address': 'Adresse, an die Sie senden',
  'transfer.exactly': 'Es müssen genau {amount} ankommen.',
  'transfer.fees':
    'Ihre Zahlung wird an den letzten Ziffern erkannt. Börsen ziehen ihre Gebühr oft von dem ab, was Sie senden: ' +
    'Prüfen Sie vor dem Bestätigen, was ankommt.',
  'transfer.other':
    'Ein anderer Betrag zählt nicht für diese Zahlung. {merchant} sieht ihn zwar, aber Sie müssen sich dann an ' +
    '{merchant} wenden.',
  'transfer.late':
    'Wenn Sie genau {amount} schon gesendet haben, zählt es noch, sobald es ankommt. Senden Sie es nicht noch ' +
    'einmal: Öffnen Sie diese Seite später, um es zu sehen.',
  'sound.play': 'Einem Telefon in der Nähe vorspielen',
  'sound.stop': 'Nicht mehr spielen',
  'sound.playing':
    'Wird gespielt, für die meisten Ohren zu hoch. Eine App auf einem Telefon in der Nähe, die zuhört, zeigt ' +
    'diese Zahlung.',
  'sound.impossible': 'Dieses Gerät kann die Zahlung nicht vorspielen. Scannen Sie stattdessen den Code.',
  'pay.do': '{amount} bezahlen',
  'pay.in': 'In {wallet} bestätigen',
  'pay.checked':
    'Diese Seite hat die Transaktion geprüft: Betrag, Token, Empfänger und Netzwerk sind die, die Sie hier sehen.',
  'pay.own_fee': 'Netzwerkgebühr selbst zahlen',
  'pay.start_again': 'Neu beginnen',
  'pay.start_again_hint':
    'Wenn die Zahlung, um die Ihre Wallet gebeten wurde, doch noch ankommt, haben Sie zweimal bezahlt. Fragen Sie im ' +
    'Zweifel zuerst bei {merchant} nach.',
  'pay.again_after_another':
    'Wenn Sie noch einmal bezahlen, hat {merchant} beide Zahlungen, bis die erste zurückgegeben ist.',
  'pay.reload': 'Erneut laden',
  'back.offers': 'Anderes Netzwerk wählen',
  'back.do': 'Zurück zu {merchant}',
  'back.support': 'Kontakt zu {merchant}',
  'receipt.title': 'Beleg',
  'receipt.print': 'Drucken oder sichern',
  'receipt.explorer': 'Im Block-Explorer ansehen',
  'timer.left': 'Zeit zum Bezahlen',
  'connection.polling': 'Live-Aktualisierung ist hier nicht möglich. Die Seite fragt alle paar Sekunden nach.',
  'connection.offline': 'Keine Verbindung. Die Seite versucht es weiter.',
  'status.loading.title': 'Die Zahlung wird geladen',
  'status.loading.text': 'Einen Moment.',
  'status.unknown.title': 'Dieser Link lässt sich nicht öffnen',
  'status.unknown.text':
    'Er ist vielleicht unvollständig, oder die Zahlung gibt es nicht. Öffnen Sie den ganzen Link noch einmal, ' +
    'oder bitten Sie um einen neuen.',
  'status.unreachable.title': 'Die Zahlung konnte nicht geladen werden',
  'status.unreachable.text': 'Prüfen Sie Ihre Verbindung und laden Sie erneut.',
  'status.waiting.title': 'Wir warten auf Ihre Zahlung',
  'status.waiting.text': 'Diese Seite merkt von selbst, wenn sie ankommt.',
  'status.sign_again.title': 'Bitte noch einmal bestätigen',
  'status.sign_again.text':
    'Das Netzwerk hat Ihre letzte Transaktion nicht rechtzeitig angenommen. Es wurde kein Geld bewegt. Bezahlen ' +
    'Sie noch einmal, um abzuschließen.',
  'status.wrong_payment.title': 'Etwas anderes ist angekommen',
  'status.wrong_payment.text':
    'Bei {merchant} ist eine Überweisung angekommen, die nicht verlangt war: {received}. Sie zählt nicht für diese ' +
    'Zahlung. Wenden Sie sich an {merchant}, um sie zurückzubekommen, bevor Sie noch einmal bezahlen.',
  'status.connecting.title': 'Verbindung mit {wallet}',
  'status.connecting.text': 'Ihre Wallet fragt, ob diese Seite Ihre Adresse sehen darf. Das allein kostet nichts.',
  'status.building.title': 'Ihre Zahlung wird vorbereitet',
  'status.building.text': 'Die Transaktion wird erstellt und geprüft.',
  'status.ending.title': 'Einen Moment, bevor Sie die Gebühr selbst zahlen',
  'status.ending.text':
    'Die erste Transaktion könnte noch mit der von {merchant} bezahlten Gebühr gesendet werden. Damit Sie nicht ' +
    'doppelt zahlen, wartet diese Seite, bis das vorbei ist: höchstens vier Minuten.',
  'status.ready.title': 'Bereit zum Bezahlen',
  'status.ready.text': 'Sehen Sie sich die Angaben an und fahren Sie fort. {wallet} fragt Sie, bevor bezahlt wird.',
  'status.confirming.title': 'In {wallet} bestätigen',
  'status.confirming.text': 'Ihre Wallet zeigt jetzt die Zahlung. Sie bezahlt nur, wenn Sie dort bestätigen.',
  'status.asked.title': 'Ihre Wallet wurde um die Zahlung gebeten',
  'status.asked.text': 'Antworten Sie dort. Wenn Sie bestätigen, zeigt diese Seite, wann die Zahlung ankommt.',
  'status.sending.title': 'Ihre Zahlung wird gesendet',
  'status.sending.text': 'Bitte lassen Sie diese Seite einen Moment offen.',
  'status.unseen.title': 'Ihre Wallet hat gesendet',
  'status.unseen.text':
    'Das Netzwerk zeigt die Zahlung noch nicht. Das kann eine Minute dauern, oder länger, wenn andere Inhaber ' +
    'Ihrer Wallet sie bestätigen müssen. Bitte bezahlen Sie nicht noch einmal.',
  'status.unsure.title': 'Ihre Wallet hat vielleicht gesendet',
  'status.unsure.text':
    'Sehen Sie in Ihrer Wallet nach. Wenn die Zahlung dort unterwegs ist oder andere sie bestätigen müssen, warten ' +
    'Sie: Diese Seite zeigt, wann sie ankommt.',
  'status.sent_partly.title': 'Ihre Wallet meldet, dass nur ein Teil angekommen ist',
  'status.sent_partly.text':
    'Ihr Geld kann bewegt worden sein; kommt die Zahlung an, zeigt es diese Seite. Sehen Sie in Ihrer Wallet ' +
    'nach und wenden Sie sich an {merchant}, bevor Sie noch einmal bezahlen.',
  'status.sent_otherwise.title': 'Ihre Wallet hat etwas anderes gesendet',
  'status.sent_otherwise.text':
    'Es zählt vielleicht nicht für diese Zahlung, aber Ihr Geld kann bewegt worden sein. Sehen Sie in Ihrer Wallet ' +
    'nach und wenden Sie sich an {merchant}, bevor Sie noch einmal bezahlen.',
  'status.again.title': 'Sie können noch einmal bezahlen',
  'status.again.text': 'Ihre Wallet wurde schon einmal gebeten. Wenn auch das ankommt, haben Sie zweimal bezahlt.',
  'status.stopped.title': 'Zu Ihrer Sicherheit angehalten',
  'status.stopped.text':
    'Die Transaktion war nicht die, die diese Seite zeigt. Ihre Wallet wurde deshalb nicht gebeten, sie zu bezahlen.',
  'status.pending.title': 'Gesendet',
  'status.pending.text': 'Das Netzwerk bestätigt Ihre Zahlung. Das dauert meist nur Sekunden.',
  'paid.more': 'Verlangt waren {asked}. Wenn Sie versehentlich mehr bezahlt haben, wenden Sie sich an {merchant}.',
  'status.paid.title': 'Bezahlt',
  'status.paid.text': '{merchant} hat {amount} erhalten. Vielen Dank.',
  'status.paid_late.title': 'Bezahlt, etwas verspätet',
  'status.paid_late.text':
    'Ihre Zahlung von {amount} kam nach Ablauf der Zeit an. {merchant} hat sie erhalten und weiß, dass sie spät ' +
    'war.',
  'status.paid_twice.title': 'Zweimal bezahlt',
  'status.paid_twice.text':
    '{merchant} hat Ihre Zahlung erhalten und eine zweite von {received}. Wenden Sie sich an {merchant}, um die ' +
    'zweite zurückzubekommen.',
  'status.failed.title': 'Die Zahlung ist fehlgeschlagen',
  'status.failed.text':
    'Das Netzwerk hat die Transaktion abgelehnt. Der Betrag ist noch in Ihrer Wallet; eine kleine Netzwerkgebühr ' +
    'kann angefallen sein. Bitten Sie {merchant} um eine neue Zahlung.',
  'status.ended_wrong.title': 'Etwas anderes ist angekommen',
  'status.ended_wrong.text':
    'Ihre Wallet hat nicht das gesendet, was verlangt war: {received} sind angekommen. Wenden Sie sich an ' +
    '{merchant}, damit es zurückgegeben oder angerechnet wird.',
  'status.expired.title': 'Die Zeit ist abgelaufen',
  'status.expired.text':
    'Diese Zahlung ist nicht mehr möglich: Es ist keine rechtzeitig angekommen. Bitten Sie {merchant} um eine neue.',
  'status.expired_pending.title': 'Die Zeit ist abgelaufen, aber Ihre Zahlung ist unterwegs',
  'status.expired_pending.text':
    'Wenn sie noch ankommt, zählt sie. Bitte bezahlen Sie nicht noch einmal: Diese Seite zeigt, wie es ausgeht.',
  'status.expired_open.title': 'Die Zeit ist abgelaufen, aber Ihre Wallet wurde um die Zahlung gebeten',
  'status.expired_open.text':
    'Wenn sie die Zahlung gesendet hat, zeigt diese Seite, wann sie ankommt. Sehen Sie in Ihrer Wallet nach und ' +
    'wenden Sie sich an {merchant}, bevor Sie anders bezahlen.',
  'status.cancelled.title': 'Abgebrochen',
  'status.cancelled.text': '{merchant} hat diese Zahlung abgebrochen. Bitte bezahlen Sie sie nicht mehr.',
  'status.ended_open.title': 'Diese Zahlung ist beendet, aber Ihre Wallet wurde um sie gebeten',
  'status.ended_open.text':
    'Wenn sie die Zahlung gesendet hat, zeigt diese Seite, wann sie ankommt. Sehen Sie in Ihrer Wallet nach und ' +
    'wenden Sie sich an {merchant}, bevor Sie anders bezahlen.',
  'money.none': 'Von dieser Seite aus wurde nichts gesendet.',
  'money.asked': 'Ihre Wallet wurde schon um die Zahlung gebeten. Antworten Sie zuerst dort.',
  'money.handed': 'Ihre Zahlung ist vielleicht unterwegs. Bitte bezahlen Sie nicht noch einmal.',
  'money.out':
    'Ihre Wallet hat eine Zahlung gesendet. Bitte bezahlen Sie nicht noch einmal: Diese Seite zeigt, wann sie ankommt.',
  'money.unknown':
    'Ihre Wallet hat die Zahlung vielleicht trotzdem gesendet. Sehen Sie dort nach, bevor Sie noch einmal bezahlen.',
  'money.otherwise':
    'Ihr Geld kann bewegt worden sein. Sehen Sie in Ihrer Wallet nach und wenden Sie sich an {merchant}, bevor Sie ' +
    'noch einmal bezahlen.',
  'problem.declined.title': 'Sie haben in {wallet} abgelehnt',
  'problem.declined.text': 'Sie können es noch einmal versuchen.',
  'problem.request_open.title': '{wallet} wartet auf Sie',
  'problem.request_open.text':
    'Dort ist schon eine Anfrage offen. Öffnen Sie die Wallet, beantworten Sie sie und versuchen Sie es noch ' +
    'einmal.',
  'problem.wrong_account.title': 'Diese Zahlung gehört zu einem anderen Konto',
  'problem.wrong_account.text':
    'Wählen Sie in {wallet} das Konto {account} und erlauben Sie dieser Seite, es zu sehen. Versuchen Sie es ' +
    'dann noch einmal.',
  'problem.own_wallet.title': 'Das ist die Wallet des Empfängers',
  'problem.own_wallet.text':
    'Sie kann nicht an sich selbst zahlen. Wählen Sie in {wallet} ein anderes Konto und versuchen Sie es noch ' +
    'einmal.',
  'problem.no_account.title': '{wallet} zeigt dieser Seite kein Konto',
  'problem.no_account.text':
    'Entsperren Sie die Wallet und erlauben Sie dieser Seite, ein Konto zu sehen. Versuchen Sie es dann noch ' +
    'einmal.',
  'problem.wrong_network.title': '{wallet} ist in einem anderen Netzwerk',
  'problem.wrong_network.text': 'Wechseln Sie dort zu {network} und versuchen Sie es noch einmal.',
  'problem.wallet_failed.title': '{wallet} hat einen Fehler gemeldet',
  'problem.wallet_failed.text': 'Versuchen Sie es noch einmal oder bezahlen Sie anders.',
  'problem.calls_given_up.title': '{wallet} hat die Zahlung aufgegeben',
  'problem.calls_given_up.text': 'Sehen Sie in {wallet} nach, bevor Sie noch einmal bezahlen.',
  'problem.calls_reverted.title': '{wallet} meldet, dass die Zahlung fehlgeschlagen ist',
  'problem.calls_reverted.text': 'Sehen Sie in {wallet} nach, bevor Sie noch einmal bezahlen.',
  'problem.balance.title': 'In dieser Wallet ist nicht genug',
  'problem.balance.text': 'Laden Sie sie auf oder wählen Sie eine andere Wallet.',
  'problem.fee.title': 'Es reicht nicht für die Netzwerkgebühr',
  'problem.fee.text':
    'Das Netzwerk verlangt eine kleine Gebühr: Laden Sie die Wallet etwas auf oder wählen Sie eine andere.',
  'problem.rejected.title': 'Das Netzwerk würde diese Zahlung ablehnen',
  'problem.rejected.text': 'Versuchen Sie es mit einer anderen Wallet.',
  'problem.blocked.title': 'Diese Wallet kann hier nicht verwendet werden',
  'problem.blocked.text': 'Wählen Sie eine andere Wallet oder wenden Sie sich an {merchant}.',
  'problem.wallet_not_payable.title': 'Diese Art von Wallet kann hier nicht bezahlen',
  'problem.wallet_not_payable.text': 'Wählen Sie eine andere Wallet.',
  'problem.recipient_not_payable.title': 'Der Empfänger kann im Moment nicht bezahlt werden',
  'problem.recipient_not_payable.text': 'Wenden Sie sich an {merchant}.',
  'problem.busy.title': 'Jemand bezahlt das gerade',
  'problem.busy.text':
    'Eine andere Transaktion ist unterwegs. Warten Sie einen Moment: Diese Seite zeigt, wie es ausgeht.',
  'problem.sponsor_refused.title': '{merchant} kann die Netzwerkgebühr hierfür nicht zahlen',
  'problem.sponsor_refused.text':
    'Versuchen Sie es noch einmal, oder zahlen Sie die Gebühr selbst. Sie zahlen nicht doppelt.',
  'problem.sponsor_unavailable.title': '{merchant} kann die Netzwerkgebühr gerade nicht zahlen',
  'problem.sponsor_unavailable.text':
    'Der Dienst, der sie zahlt, hat nicht geantwortet. Versuchen Sie es noch einmal, oder zahlen Sie die Gebühr ' +
    'selbst. Sie zahlen nicht doppelt.',
  'problem.sponsor_wallet.title': '{wallet} kann die Gebühr nicht von anderen zahlen lassen',
  'problem.sponsor_wallet.text': 'Zahlen Sie die Netzwerkgebühr selbst, oder wählen Sie eine andere Wallet.',
  'problem.signed_otherwise.title': 'Die Wallet hat etwas anderes unterschrieben',
  'problem.signed_otherwise.text': 'Versuchen Sie es noch einmal oder wählen Sie eine andere Wallet.',
  'problem.limit.title': 'Zu viele Versuche',
  'problem.limit.text': 'Diese Zahlung wurde zu oft versucht. Bitten Sie {merchant} um eine neue.',
  'problem.too_many.title': 'Einen Moment, bitte',
  'problem.too_many.text': 'Es gab zu viele Anfragen. Versuchen Sie es in einer Minute noch einmal.',
  'problem.unavailable.title': 'Das Netzwerk ist gerade nicht erreichbar',
  'problem.unavailable.text': 'Versuchen Sie es gleich noch einmal.',
  'problem.offline.title': 'Keine Verbindung',
  'problem.offline.text': 'Prüfen Sie Ihre Verbindung und versuchen Sie es noch einmal.',
  'problem.other.title': 'Das hat nicht geklappt',
  'problem.other.text': 'Versuchen Sie es noch einmal. Wenn es so bleibt, nennen Sie {merchant} dies: {code}',
  'difference.malformed': 'die Transaktion ließ sich nicht lesen',
  'difference.chain': 'ein anderes Netzwerk',
  'difference.token': 'ein anderer Token',
  'difference.recipient': 'ein anderer Empfänger',
  'difference.amount': 'ein anderer Betrag',
  'difference.reference': 'die Referenz einer anderen Zahlung',
  'difference.payer': 'ein anderes zahlendes Konto',
  'difference.more': 'sie tut mehr als bezahlen',
  'difference.fee': 'eine zu hohe Gebühr',
  'stopped.found': 'Was anders ist:',
  'stopped.advice': 'Bezahlen Sie auch nicht auf anderem Weg. Bitte sagen Sie es {merchant}.',
};
