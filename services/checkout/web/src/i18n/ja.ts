import type { Messages } from './en.ts';

export const ja: Messages = {
  'page.title': 'お支払い',
  'page.title_amount': '{merchant}へ{amount}',
  'page.test': 'テスト決済です。実際のお金は動きません',
  'page.to': '{merchant}へのお支払い',
  'page.merchant_unknown': '受取人',
  'page.on_network': '{network}の{token}',
  'page.language': '言語',
  'token.usd': 'デジタル米ドル',
  'token.eur': 'デジタルユーロ',
  'detail.recipient': '受取人のアドレス',
  'detail.recipient_hint':
    'ウォレットの表示と見比べるためのものです。ここへ手動で送ったものはこのお支払いとして数えられません。送った場合は{merchant}にお問い合わせください。',
  'detail.amount': '金額',
  'detail.network': 'ネットワーク',
  'detail.from': 'あなたのアドレス',
  'detail.fee': 'ネットワーク手数料(概算)',
  'detail.sponsored_fee': 'ネットワーク手数料',
  'detail.sponsored_by': '{merchant} が負担します',
  'detail.account_rent': '受取人の口座の開設(初回のみ)',
  'detail.account_rent_hint':
    '受取人はこのネットワークで{token}を受け取ったことがありません。新しい口座' + 'の費用が一度だけかかります。',
  'detail.payment': '支払い番号',
  'detail.transaction': 'トランザクション',
  'detail.paid_at': '支払い日時',
  'detail.expires': '支払い期限',
  'detail.more': '詳細',
  'copy.do': '{what}をコピー',
  'copy.done': 'コピーしました',
  'ways.title': 'お支払い方法を選んでください',
  'ways.wallets': 'このブラウザのウォレット',
  'ways.sponsored': '対応するウォレットでは、ネットワーク手数料を {merchant} が負担します。',
  'ways.none': 'このブラウザにウォレットが見つかりません。',
  'ways.none_hint':
    'ウォレットのある場所でこのページを開いてください。スマートフォンの' +
    'ウォレットアプリ、またはウォレット拡張機能のあるブラウザです。',
  'ways.apps': 'ウォレットアプリで開く',
  'ways.transfer': '取引所や任意のウォレットから送る',
  'ways.copy_link': 'リンク全体をコピー',
  'ways.qr': 'スマートフォンで読み取る',
  'ways.change': '別の方法を選ぶ',
  'ways.embedded': '支払いに進む',
  'ways.embedded_hint': '支払いは専用のページで開きます。そこでアドレスを確認できます。',
  'offers.begun': 'この方法での支払いを始めています。',
  'offers.unknown': 'このページではこのネットワークを確認できないため、この方法では支払えま' + 'せん。',
  'qr.solana_request':
    'PhantomやSolflareなどのSolanaウォレットで読み取ってください。送金の前に内容が' + '表示されます。',
  'qr.solana_transfer': '最初のコードを読み取れないウォレット用です。金額とメモは変更しないでくだ' + 'さい。',
  'qr.tempo': 'Tempoに対応したウォレット用です。金額が正しく、メモが入力されていることを' + '確認してください。',
  'qr.page': 'スマートフォンのカメラで読み取ると、このページが開きます。',
  'qr.transfer': 'Solanaのウォレット用です。ちょうどこの金額が表示されることを確認してください。',
  'qr.address': 'アドレスのみです。トークン、ネットワーク、金額は、ここにある通りに入力してください。',
  'qr.tab.solana_request': 'Solana Pay',
  'qr.tab.solana_transfer': '通常の送金',
  'qr.tab.tempo': 'Tempo',
  'qr.tab.page': 'このページ',
  'qr.tab.transfer': '金額入り',
  'qr.tab.address': 'アドレスのみ',
  'qr.alt': 'QRコード',
  'transfer.not_ethereum': '{network}(Ethereumではありません)',
  'transfer.token': 'トークン',
  'transfer.amount': '正確な金額',
  'transfer.address': '送金先アドレス',
  'transfer.exactly': 'ちょうど{amount}が届く必要があります。',
  'transfer.fees':
    'お支払いは末尾の数字で見分けられます。取引所は送金額から手数料を差し引くことがよくあります。確定する前に、届' +
    'く金額を確認してください。',
  'transfer.other':
    '金額が異なると、この支払いには数えられません。{merchant}はその送金を確認できますが、その場合は{merchant}への' +
    'お問い合わせが必要です。',
  'transfer.late':
    'すでにちょうど{amount}を送金した場合は、届いた時点で有効になります。もう一度送金せず、後でこのページを開いて' +
    'ご確認ください。',
  'sound.play': '近くのスマートフォンへ音で送る',
  'sound.stop': '再生を止める',
  'sound.playing':
    'ほとんどの人には聞こえない高い音で再生しています。近くのスマートフォンで' +
    '聞き取っているアプリにこのお支払いが表示されます。',
  'sound.impossible': 'この端末では音を再生できません。コードを読み取ってください。',
  'pay.do': '{amount}を支払う',
  'pay.in': '{wallet}で承認してください',
  'pay.checked':
    'このページが取引を確認しました。金額、トークン、受取人、ネットワークは、' + 'ここに表示されているとおりです。',
  'pay.own_fee': 'ネットワーク手数料を自分で支払う',
  'pay.start_again': '最初からやり直す',
  'pay.start_again_hint':
    'ウォレットに依頼したお支払いが後から届くと、二重のお支払いになります。' +
    '不明な場合は、先に{merchant}にお問い合わせください。',
  'pay.again_after_another': 'もう一度支払うと、最初の分が返金されるまで、{merchant}が両方を受け取った状態になります。',
  'pay.reload': 'もう一度読み込む',
  'back.offers': '別のネットワークを選ぶ',
  'back.do': '{merchant}に戻る',
  'back.support': '{merchant}に問い合わせる',
  'receipt.title': '領収書',
  'receipt.print': '印刷または保存',
  'receipt.explorer': 'ブロックエクスプローラーで見る',
  'timer.left': '残り時間',
  'connection.polling': 'ここでは自動更新が使えません。数秒ごとに確認しています。',
  'connection.offline': '接続がありません。再接続を試みています。',
  'status.loading.title': '支払いを読み込んでいます',
  'status.loading.text': '少しお待ちください。',
  'status.unknown.title': 'このリンクは開けません',
  'status.unknown.text':
    'リンクが不完全か、支払いが存在しません。リンク全体をもう一度開くか、' + '新しいリンクを依頼してください。',
  'status.unreachable.title': '支払いを読み込めませんでした',
  'status.unreachable.text': '接続を確認して、もう一度読み込んでください。',
  'status.waiting.title': 'お支払いをお待ちしています',
  'status.waiting.text': '届くと、このページに自動的に表示されます。',
  'status.sign_again.title': 'もう一度署名してください',
  'status.sign_again.text':
    '前回の取引はネットワークに間に合いませんでした。お金は動いていません。' + 'もう一度支払うと完了します。',
  'status.wrong_payment.title': '別の送金が届きました',
  'status.wrong_payment.text':
    '{merchant}に、依頼と異なる送金が届きました: {received}。この支払いには数えられません。もう一度支払う前に、' +
    '返金について{merchant}にお問い合わせください。',
  'status.connecting.title': '{wallet}に接続しています',
  'status.connecting.text':
    'このページにアドレスを見せてよいか、ウォレットが確認します。それだけで' + '費用はかかりません。',
  'status.building.title': '支払いを準備しています',
  'status.building.text': '取引を作成し、確認しています。',
  'status.ending.title': '手数料を自分で支払うまで、少しお待ちください',
  'status.ending.text':
    '最初の取引が、{merchant} ' +
    'の手数料負担でまだ送信される可能性があります。二重に支払わないように、その可能性がなくなるまで(最長 ' +
    '4 分)このページでお待ちください。',
  'status.ready.title': '支払いの準備ができました',
  'status.ready.text': '内容を確認して進んでください。支払う前に{wallet}が確認します。',
  'status.confirming.title': '{wallet}で承認してください',
  'status.confirming.text': 'ウォレットに支払いが表示されています。そこで承認した場合にだけ支払われます。',
  'status.asked.title': 'ウォレットに支払いを依頼しました',
  'status.asked.text': 'ウォレットで返答してください。承認すると、届いたときにこのページに表示されます。',
  'status.sending.title': '支払いを送信しています',
  'status.sending.text': 'このページを開いたまま少しお待ちください。',
  'status.unseen.title': 'ウォレットが送信しました',
  'status.unseen.text':
    'まだネットワークに表示されていません。1分ほど、' +
    'ウォレットのほかの所有者の承認が必要な場合はさらにかかることがあります。もう一度支払わないでください。',
  'status.unsure.title': 'ウォレットが送信した可能性があります',
  'status.unsure.text':
    'ウォレットを確認してください。送信中の場合や、ほかの人の承認が必要な場合は、お待ちください。' +
    '届くとこのページに表示されます。',
  'status.sent_partly.title': 'ウォレットによると、一部だけが実行されました',
  'status.sent_partly.text':
    'お金が動いた可能性があります。お支払いが届けば、このページに表示されます。もう一度支払う前に、ウォレットを確認し、{merchant}にお問い合わせください。',
  'status.sent_otherwise.title': 'ウォレットが別の内容を送信しました',
  'status.sent_otherwise.text':
    'この支払いには数えられない可能性がありますが、お金が動いた可能性があります。もう一度支払う前に、' +
    'ウォレットを確認し、{merchant}にお問い合わせください。',
  'status.again.title': 'もう一度支払えます',
  'status.again.text': 'ウォレットにはすでに支払いを依頼しています。それも届くと、二重に支払うことになります。',
  'status.stopped.title': '安全のため停止しました',
  'status.stopped.text': '取引がこのページの表示と異なっていたため、ウォレットには渡していません。',
  'status.pending.title': '送信済み',
  'status.pending.text': 'ネットワークが支払いを確認しています。通常は数秒です。',
  'paid.more': '請求額は{asked}でした。誤って多く支払われた場合は、{merchant}にお問い合わせください。',
  'status.paid.title': '支払い完了',
  'status.paid.text': '{merchant}が{amount}を受け取りました。ありがとうございます。',
  'status.paid_late.title': '支払い完了(期限後)',
  'status.paid_late.text':
    '{amount}の支払いは期限の後に届きました。{merchant}は受け取り、遅れたことも把握' + 'しています。',
  'status.paid_twice.title': '二重に支払われました',
  'status.paid_twice.text':
    '{merchant}は支払いを受け取り、さらに{received}を受け取りました。2回目の返金' +
    'については{merchant}にお問い合わせください。',
  'status.failed.title': '支払いに失敗しました',
  'status.failed.text':
    'ネットワークが取引を拒否しました。金額はウォレットに残っています。少額の' +
    '手数料がかかった可能性があります。{merchant}に新しい支払いを依頼してくだ' +
    'さい。',
  'status.ended_wrong.title': '別の送金が届きました',
  'status.ended_wrong.text':
    'ウォレットが送ったものは依頼と異なります: ' +
    '{received}が届きました。返金や充当については{merchant}にお問い合わせください。',
  'status.expired.title': '期限が過ぎました',
  'status.expired.text':
    'この支払いはもう行えません。期限までに届いた支払いはありませんでした。{merchant}' +
    'に新しい支払いを依頼してください。',
  'status.expired_pending.title': '期限が過ぎましたが、支払いは処理中です',
  'status.expired_pending.text': '届けば有効です。もう一度支払わないでください。結果はこのページに表示され' + 'ます。',
  'status.expired_open.title': '期限が過ぎましたが、ウォレットに支払いを依頼しています',
  'status.expired_open.text':
    '送信済みの場合は、届いたときにこのページに表示されます。ほかの方法で支払う前に、ウォレットを確認し、{merchant}' +
    'にお問い合わせください。',
  'status.cancelled.title': 'キャンセルされました',
  'status.cancelled.text': '{merchant}がこの支払いをキャンセルしました。支払わないでください。',
  'status.ended_open.title': 'この支払いは終了しましたが、ウォレットに支払いを依頼しています',
  'status.ended_open.text':
    '送信済みの場合は、届いたときにこのページに表示されます。ほかの方法で支払う前に、ウォレットを確認し、{merchant}' +
    'にお問い合わせください。',
  'money.none': 'このページからは何も送信されていません。',
  'money.asked': 'ウォレットにはすでに支払いを依頼しています。先にそちらで返答してください。',
  'money.handed': '支払いが処理中の可能性があります。もう一度支払わないでください。',
  'money.out': 'ウォレットが支払いを送信しました。もう一度支払わないでください。届くとこのページに表示されます。',
  'money.unknown':
    'それでもウォレットが支払いを送信した可能性があります。もう一度支払う前に、ウォレットを確認してください。',
  'money.otherwise':
    'お金が動いた可能性があります。もう一度支払う前に、ウォレットを確認し、{merchant}にお問い合わせください。',
  'problem.declined.title': '{wallet}で拒否されました',
  'problem.declined.text': 'もう一度試せます。',
  'problem.request_open.title': '{wallet}が返答を待っています',
  'problem.request_open.text': 'すでに確認画面が開いています。ウォレットで返答してから、もう一度試して' + 'ください。',
  'problem.wrong_account.title': 'この支払いは別のアカウント用です',
  'problem.wrong_account.text':
    '{wallet}でアカウント{account}を選び、このページに表示を許可してから、もう一度' + '試してください。',
  'problem.own_wallet.title': '受取人自身のウォレットです',
  'problem.own_wallet.text': '自分自身には支払えません。{wallet}で別のアカウントを選び、もう一度試して' + 'ください。',
  'problem.no_account.title': '{wallet}はこのページにアカウントを共有していません',
  'problem.no_account.text':
    'ウォレットのロックを解除し、アカウントの表示を許可してから、もう一度試し' + 'てください。',
  'problem.wrong_network.title': '{wallet}は別のネットワークにつながっています',
  'problem.wrong_network.text': '{network}に切り替えてから、もう一度試してください。',
  'problem.wallet_failed.title': '{wallet}がエラーを報告しました',
  'problem.wallet_failed.text': 'もう一度試すか、別の方法を選んでください。',
  'problem.calls_given_up.title': '{wallet}が支払いを中止しました',
  'problem.calls_given_up.text': 'もう一度支払う前に、{wallet}を確認してください。',
  'problem.calls_reverted.title': '{wallet}が支払いの失敗を報告しました',
  'problem.calls_reverted.text': 'もう一度支払う前に、{wallet}を確認してください。',
  'problem.balance.title': 'ウォレットの残高が足りません',
  'problem.balance.text': '入金するか、別のウォレットを選んでください。',
  'problem.fee.title': 'ネットワーク手数料が足りません',
  'problem.fee.text': '少額の手数料が必要です。ウォレットに少し入金するか、別のウォレットを選んでください。',
  'problem.rejected.title': 'ネットワークがこの支払いを拒否します',
  'problem.rejected.text': '別のウォレットを試してください。',
  'problem.blocked.title': 'このウォレットはここでは使えません',
  'problem.blocked.text': '別のウォレットを選ぶか、{merchant}にお問い合わせください。',
  'problem.wallet_not_payable.title': 'この種類のウォレットでは支払えません',
  'problem.wallet_not_payable.text': '別のウォレットを選んでください。',
  'problem.recipient_not_payable.title': '現在、受取人は受け取れません',
  'problem.recipient_not_payable.text': '{merchant}にお問い合わせください。',
  'problem.busy.title': 'すでに支払いが進んでいます',
  'problem.busy.text': '別の取引が処理中です。少しお待ちください。結果はこのページに表示されます' + '。',
  'problem.sponsor_refused.title': '{merchant} はこの支払いのネットワーク手数料を負担できません',
  'problem.sponsor_refused.text': 'もう一度試すか、手数料を自分で支払ってください。二重に支払うことはありません。',
  'problem.sponsor_unavailable.title': '{merchant} は現在ネットワーク手数料を負担できません',
  'problem.sponsor_unavailable.text':
    '手数料を支払うサービスが応答しませんでした。もう一度試すか、手数料を自分で支払ってください。' +
    '二重に支払うことはありません。',
  'problem.sponsor_wallet.title': '{wallet} では手数料を他者が負担できません',
  'problem.sponsor_wallet.text': 'ネットワーク手数料を自分で支払うか、別のウォレットを選んでください。',
  'problem.signed_otherwise.title': 'ウォレットが別の内容に署名しました',
  'problem.signed_otherwise.text': 'もう一度試すか、別のウォレットを選んでください。',
  'problem.limit.title': '試行回数が多すぎます',
  'problem.limit.text': 'この支払いは試行の上限に達しました。{merchant}に新しい支払いを依頼してくだ' + 'さい。',
  'problem.too_many.title': '少しお待ちください',
  'problem.too_many.text': 'リクエストが多すぎます。1分後にもう一度試してください。',
  'problem.unavailable.title': '現在ネットワークに接続できません',
  'problem.unavailable.text': '少ししてからもう一度試してください。',
  'problem.offline.title': '接続がありません',
  'problem.offline.text': '接続を確認してから、もう一度試してください。',
  'problem.other.title': 'うまくいきませんでした',
  'problem.other.text': 'もう一度試してください。続く場合は{merchant}に次を伝えてください: {code}',
  'difference.malformed': '取引を読み取れませんでした',
  'difference.chain': 'ネットワークが違います',
  'difference.token': '別のトークン',
  'difference.recipient': '受取人が違います',
  'difference.amount': '金額が違います',
  'difference.reference': '別の支払いの参照番号です',
  'difference.payer': '支払うアカウントが違います',
  'difference.more': '支払い以外の操作を含みます',
  'difference.fee': '手数料が高すぎます',
  'stopped.found': '異なる点:',
  'stopped.advice': 'ほかの方法でも支払わず、{merchant}にお知らせください。',
};
